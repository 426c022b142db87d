// In the inbox a letter chooses in the question that has the focus, and goes on to the next one; Enter decides.
// After a page was swapped, the focus goes where a reader would begin.
"use strict";

document.addEventListener("keydown", (event) => {
  const question = event.target.closest(".question");
  if (!question || event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input:not([type=radio])")) {
    return;
  }
  const choice = [...question.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
  if (choice) {
    event.preventDefault();
    choice.checked = true;
    const next = question.nextElementSibling.querySelector("[data-key]") || choice;
    next.focus();
  }
});

document.addEventListener("htmx:afterSettle", () => {
  (document.querySelector("[autofocus]") || document.querySelector("h1")).focus();
});
