// Nothing on the page needs this file.
"use strict";
const one = (query, within = document) => within.querySelector(query);
const on = addEventListener;
let last = "", path = location.pathname, kept = [], toast, acted, ended, source;

// In the row that has the focus, or the first on the page.
on("keydown", (event) => {
  const { key, target } = event, form = one("#text")?.form;
  if (form && (event.ctrlKey || event.metaKey) && key === "s") {
    event.preventDefault();
    form.requestSubmit();
  }
  if (event.ctrlKey || event.altKey || event.metaKey || target.matches("input:not([type=checkbox]), textarea, select")) {
    return;
  }
  const keys = last + key, row = target.closest("li, tr"), wanted = `[data-k="${CSS.escape(keys)}"]`;
  last = key === "g" ? key : "";
  const found = (row && one(wanted, row)) || one(wanted);
  if (found) {
    event.preventDefault();
    found.focus();
    found.click();
  } else if (keys === "j" || keys === "k") {
    const rows = [...document.querySelectorAll("main .item")];
    rows[Math.max(0, rows.indexOf(row && one(".item", row)) + (keys === "j" ? 1 : -1))]?.focus();
  }
});

on("click", ({ target }) => {
  const words = target.dataset.copy;
  words && navigator.clipboard.writeText(words).then(() => { target.textContent = "Copied"; });
});

// The editor's page is left by the browser, not by htmx, and so not with unsaved words unasked.
onbeforeunload = (event) => {
  const words = one("#text");
  words && words.value !== one("[name=base]").value && event.preventDefault();
};
on("submit", ({ target }) => { target.contains(one("#text")) && (onbeforeunload = null); });

// A form with typed words outlives a page that is shown anew.
const typed = () => [...document.forms].filter((form) => form.method === "post" && [...form.elements].some(
  (field) => field.value !== (field.defaultValue ?? field.value)));
const name = ({ action, elements }) => action + elements.id?.value + elements.verb?.value;
const busy = () => typed().length || one("main :is(input, textarea, select):focus");

const show = () => {
  kept = typed();
  htmx.ajax("GET", location.href, { target: "body", headers: { "X-Shown": "anew" } });
};

const tell = (...what) => {
  const news = one("[role=alert].said");
  news.hidden = false;
  news.replaceChildren(...what);
};

const offer = () => tell("The memory changed. ", Object.assign(document.createElement("button"), { textContent: "Show it", onclick: show }));

// Whoever began to type, pressed a button or went on while the new page was on its way keeps what is there.
const anew = ({ requestConfig }) => requestConfig.headers["X-Shown"];
on("htmx:beforeRequest", ({ detail }) => { acted = !anew(detail); });
on("htmx:beforeSwap", ({ detail }) => {
  toast = anew(detail) && one("[role=status]");
  if (anew(detail) && (acted || (!kept.length && busy()))) {
    detail.shouldSwap = false;
    offer();
  }
});

// What is searched while it is typed is one step.
on("htmx:beforeHistoryUpdate", ({ detail }) => {
  if (detail.requestConfig.elt.type === "search" && location.pathname === "/items") {
    detail.history.type = "replace";
  }
});

const ready = () => {
  for (const form of kept) {
    const there = [...document.forms].find((other) => name(other) === name(form));
    there ? there.replaceWith(form) : one(`li a[href="/item/${form.elements.id?.value}"]`)?.closest("li").append(form);
    htmx.process(form);
  }
  toast && !one("[role=status]") && one("main").after(toast);
  kept = [];
  toast = null;
  one("main [aria-current]")?.scrollIntoView({ block: "nearest" });
};

// Whoever takes the port of a page that has ended gets nothing.
const end = () => {
  ended = true;
  source.close();
  document.querySelectorAll("button").forEach((button) => { button.disabled = true; });
  tell("This page has ended. Run curate view again.");
};
for (const kind of ["click", "submit"]) {
  on(kind, (event) => {
    if (ended) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }, true);
}

const listen = () => {
  source?.close();
  if (document.hidden || ended) {
    return;
  }
  source = new EventSource("/events");
  source.addEventListener("end", end);
  source.onerror = end;
  source.onmessage = ({ data }) => setTimeout(() => {
    if (!ended && one("main").dataset.state !== data && !one(".htmx-request")) {
      busy() ? offer() : show();
    }
  }, 300);
};

on("htmx:afterSettle", ({ target }) => {
  ready();
  if (target !== document.body) {
    one("li > form [name=text]", target)?.focus();
  } else if (path !== location.pathname) {
    path = location.pathname;
    scrollTo(0, 0);
    one("main :focus") || (one("[autofocus]") || one(location.hash || "h1")).focus();
  }
});
on("visibilitychange", listen);
if (one("[name=code]")) {
  one("[name=code]").value = location.hash.slice(1);
  location.hash && document.forms[0].submit();
} else {
  listen();
}
