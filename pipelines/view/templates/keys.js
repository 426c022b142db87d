// In the inbox a letter chooses in the question that has the focus, and goes on to the next one; Enter decides.
// An id is copied by its button. After a page was swapped, the focus goes where a reader would begin.
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

document.addEventListener("click", async (event) => {
  if (event.target.dataset.copy) {
    await navigator.clipboard.writeText(event.target.dataset.copy);
    event.target.textContent = "Copied";
  }
});

const showButtons = () => document.querySelectorAll("[data-copy]").forEach((one) => { one.hidden = false; });
showButtons();
document.addEventListener("htmx:afterSettle", () => {
  showButtons();
  (document.querySelector("[autofocus]") || document.querySelector("h1")).focus();
});
