// Nothing on the page needs this file.
"use strict";
const one = (query, within = document) => within.querySelector(query);
const on = addEventListener;
let last = "", sent = false, turn = 0, pause, source;

on("keydown", (event) => {
  const { key, target } = event, text = one("#text"), held = event.ctrlKey || event.altKey || event.metaKey;
  if (text && held && key === "s") {
    event.preventDefault();
    text.form.requestSubmit();
  }
  if (sent || held || target.matches("input:not([type=checkbox]), textarea, select")) {
    return;
  }
  const keys = last + key, row = target.closest("li"), wanted = `[data-k="${CSS.escape(keys)}"]`;
  last = key === "g" ? key : "";
  const found = (row && one(wanted, row)) || one(wanted);
  if (found) {
    event.preventDefault();
    found.focus();
    found.click();
  } else if (keys === "j" || keys === "k") {
    const now = one("main [aria-current]"), rows = [...(now?.closest("ul") ?? one("main")).querySelectorAll(".item")];
    const next = rows[Math.max(0, rows.indexOf(now ?? (row && one(".item", row))) + (keys === "j" ? 1 : -1))];
    next?.focus();
    now && next?.click();
  }
});

const tell = (words) => Object.assign(one(".said[role=alert]"), { hidden: false, textContent: words });

// What is typed, marked or chosen stays.
const busy = () => one("#text, main :is(input, select):focus, main input:checked, [method] option:default:not(:checked)")
  || [...document.querySelectorAll("main input")].some((field) => field.value !== field.defaultValue);

const read = async (address) => {
  const answer = await fetch(address, { headers: { "X-Beside": "1" } });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
};

const show = async (address) => {
  const mine = ++turn, found = await read(address).catch(() => null);
  if (busy()) {
    tell("This page stays as it is. Reload it to see what is new.");
  } else if (found && mine === turn && !sent) {
    document.title = found.title;
    for (const part of ["#frame", "#main"]) {
      one(part).replaceWith(one(part, found));
    }
  }
};

on("input", ({ target }) => {
  clearTimeout(pause);
  pause = target.type === "search" && !busy() && setTimeout(() => {
    const address = `/items?q=${encodeURIComponent(target.value)}`;
    history[location.pathname === "/items" ? "replaceState" : "pushState"](null, "", address);
    show(address);
  }, 200);
});
on("popstate", () => location.hash || location.reload());

// A row is edited in place.
on("click", async (event) => {
  const { target } = event, words = target.dataset.copy;
  if (words) {
    await navigator.clipboard.writeText(words);
    target.textContent = "Copied";
  } else if (target.matches("li [data-k=e]") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const form = one("main form:has([name=text])", await read(target.href));
    target.closest("li").append(form);
    form.text.focus();
  }
});

// A form is sent once.
on("submit", (event) => {
  sent && event.preventDefault();
  sent = true;
  one("progress.said")?.removeAttribute("hidden");
  sessionStorage[location.href] = scrollY;
});
on("pageshow", (event) => event.persisted && location.reload());
scrollTo(0, sessionStorage[location.href] ?? scrollY);
delete sessionStorage[location.href];

onbeforeunload = (event) => {
  sent || one("#text")?.value === one("[name=base]")?.value || event.preventDefault();
};

// Whoever takes the port of a page that has ended gets nothing.
const end = () => {
  sent = true;
  source.close();
  tell("This page has ended. Run curate view again.");
  document.querySelectorAll("body > :not([role=alert])").forEach((part) => { part.inert = true; });
};

const listen = () => {
  source?.close();
  if (!document.hidden && !sent) {
    source = new EventSource("/events");
    source.onerror = end;
    source.onmessage = ({ data }) => one("#main").dataset.state !== data && show(location.href);
  }
};
on("visibilitychange", listen);
on("pagehide", () => source?.close());
const code = one("[name=code]");
if (code) {
  code.value = location.hash.slice(1);
  location.hash && document.forms[0].submit();
} else {
  listen();
}
