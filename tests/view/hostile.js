// What a hostile page tries: `base` is the page's address, `read` and `change` are paths, `fields` those of a form.
// The title says in the end what was found and how often it tried.
"use strict";

const body = new URLSearchParams(fields).toString();
const found = [];
let tried = 0;
const attempt = (begin) => {
  tried += 1;
  const late = new Promise((done) => setTimeout(done, 3000));
  return Promise.race([new Promise(begin), late]).catch(() => {});
};
const add = (tag, values) => document.body.appendChild(Object.assign(document.createElement(tag), values));
const keep = (text) => text && found.push(text);

const readings = [
  (url, done) => fetch(url, { credentials: "include" }).then((one) => one.text()).then(keep).then(done, done),
  (url, done) => fetch(url, { credentials: "include", mode: "no-cors" }).then((one) => one.text()).then(keep).then(done, done),
  (url, done) => {
    const asked = new XMLHttpRequest();
    asked.withCredentials = true;
    asked.onloadend = () => done(keep(asked.responseText));
    asked.open("GET", url);
    asked.send();
  },
  (url, done) => add("img", { src: url, onload: () => done(keep("loaded img")), onerror: done }),
  (url, done) => add("script", { src: url, onload: () => done(keep("loaded script")), onerror: done }),
  (url, done) => {
    const frame = add("iframe", { src: url });
    frame.onload = () => {
      try { keep(frame.contentDocument.body.innerText); } catch { /* as it should be */ }
      done();
    };
  },
  (url, done) => {
    const events = new EventSource(url, { withCredentials: true });
    events.onmessage = (one) => keep(one.data);
    events.onerror = () => done(events.close());
  },
  (url, done) => {
    const other = window.open(url);
    setTimeout(() => {
      try { keep(other.document.body.innerText); } catch { /* as it should be */ }
      done(other?.close());
    }, 300);
  },
];

const post = (type) => (url, done) =>
  fetch(url, { method: "POST", credentials: "include", mode: "no-cors", body, headers: { "Content-Type": type } }).then(done, done);
const changes = [
  post("application/x-www-form-urlencoded"),
  post("text/plain"),
  post("application/json"),
  (url, done) => done(navigator.sendBeacon(url, new Blob([body], { type: "application/x-www-form-urlencoded" }))),
  (url, done) => {
    const into = add("iframe", { name: `into${tried}`, onload: done });
    const form = add("form", { target: into.name, method: "post", action: url });
    for (const [name, value] of Object.entries(fields)) {
      form.appendChild(Object.assign(document.createElement("input"), { name, value }));
    }
    form.submit();
  },
];

const socket = (url, done) => {
  const one = new WebSocket(url.replace("http", "ws"));
  one.onopen = () => done(keep("a socket"));
  one.onerror = done;
};

(async () => {
  for (const reading of readings) await attempt((done) => reading(base + read[0], done));
  for (const path of read.slice(1)) await attempt((done) => readings[0](base + path, done));
  for (const path of change) for (const one of changes) await attempt((done) => one(base + path, done));
  await attempt((done) => socket(`${base}/`, done));
  document.title = JSON.stringify({ found, tried });
})();
