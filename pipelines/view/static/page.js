// Nothing on the page needs this file.
"use strict";
const one = (query, within = document) => within.querySelector(query);
let last = "", path = location.pathname, kept = [], toast, acted, ended, saved, source;

// In the row that has the focus, or the first on the page.
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "s" && one("#text")) {
    event.preventDefault();
    one("#text").form.requestSubmit();
  }
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input:not([type=checkbox]), textarea, select")) {
    return;
  }
  const key = last + event.key, row = event.target.closest("li, tr"), wanted = `[data-k="${CSS.escape(key)}"]`;
  last = event.key === "g" ? "g" : "";
  const found = (row && one(wanted, row)) || one(wanted);
  if (found) {
    event.preventDefault();
    found.focus();
    found.click();
  } else if (key === "j" || key === "k") {
    const rows = [...document.querySelectorAll("main .item")];
    rows[Math.max(0, rows.indexOf(row && one(".item", row)) + (key === "j" ? 1 : -1))]?.focus();
  }
});

document.addEventListener("click", ({ target }) => {
  if (target.dataset.copy) {
    navigator.clipboard.writeText(target.dataset.copy).then(() => { target.textContent = "Copied"; });
  }
});

// A form with typed words outlives a page that is shown anew.
const typed = () => [...document.forms].filter((form) => form.method === "post" && [...form.elements].some(
  (field) => field.type !== "hidden" && field.value !== (field.defaultValue ?? field.value)));
const name = (form) => ["id", "verb"].map((field) => form.elements[field]?.value).join(form.action);

const busy = () => typed().length || one("main :is(input, textarea, select):focus");

const show = () => {
  kept = typed();
  htmx.ajax("GET", location.href, { target: "body", headers: { "X-Shown": "anew" } });
};

const offer = () => {
  const button = Object.assign(document.createElement("button"), { textContent: "Show it", onclick: show });
  tell("The memory changed. ", button);
};

// Whoever began to type, pressed a button or went on while the new page was on its way keeps what is there.
const anew = ({ requestConfig }) => requestConfig.headers["X-Shown"];
document.addEventListener("htmx:beforeRequest", ({ detail }) => { acted = !anew(detail); });
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  toast = anew(detail) && one("[role=status]");
  if (anew(detail) && (acted || (!kept.length && busy()))) {
    detail.shouldSwap = false;
    offer();
  }
});

const ready = () => {
  document.querySelectorAll("[data-copy]").forEach((button) => { button.hidden = false; });
  for (const form of kept) {
    const there = [...document.forms].find((other) => name(other) === name(form));
    there ? there.replaceWith(form) : one(`li a[href="/item/${form.elements.id?.value}"]`)?.closest("li").append(form);
    htmx.process(form);
  }
  if (toast && !one("[role=status]")) {
    one("main").after(toast);
  }
  kept = [];
  toast = null;
  one("main [aria-current]")?.scrollIntoView({ block: "nearest" });
};

// What the search shows takes one step back.
document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  if (detail.requestConfig.elt.type === "search" && location.pathname === "/items") {
    detail.history.type = "replace";
  }
});

// A page is edited without htmx, so nobody leaves unsaved words unasked.
addEventListener("submit", ({ target }) => { saved = target === one("#text")?.form; });
addEventListener("beforeunload", (event) => {
  const fields = one("#text")?.form.elements;
  if (fields && !saved && fields.text.value !== fields.base.value) {
    event.preventDefault();
  }
});

const tell = (text, ...more) => {
  const news = one("[role=alert].said");
  news.hidden = false;
  news.replaceChildren(text, ...more);
};

// Whoever takes the port of a page that has ended gets nothing.
const end = () => {
  ended = true;
  source.close();
  document.querySelectorAll("button").forEach((button) => { button.disabled = true; });
  tell("This page has ended. Run curate view again.");
};
for (const kind of ["click", "submit"]) {
  addEventListener(kind, (event) => {
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
    if (ended || one("main").dataset.state === data || one(".htmx-request")) {
      return;
    }
    busy() ? offer() : show();
  }, 300);
};

document.addEventListener("htmx:afterSettle", ({ target }) => {
  ready();
  if (target !== document.body) {
    one("li > form [name=text]", target)?.focus();
  } else if (path !== location.pathname) {
    path = location.pathname;
    scrollTo(0, 0);
    one("main :focus") || (one("[autofocus]") || one(location.hash || "h1")).focus();
  }
});
document.addEventListener("visibilitychange", listen);
if (one("[name=code]")) {
  one("[name=code]").value = location.hash.slice(1);
  location.hash && document.forms[0].submit();
} else {
  ready();
  listen();
}
