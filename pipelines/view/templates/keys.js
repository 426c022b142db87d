// In the inbox a letter chooses in the question that has the focus, and goes on to the next one; Enter decides. A slash
// leads to the search. After a page was swapped, the focus goes where a reader would begin.
"use strict";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input:not([type=radio]), textarea, select")) {
    return;
  }
  const question = event.target.closest(".question");
  const choice = [...(question?.querySelectorAll("[data-key]") || [])].find((one) => one.dataset.key === event.key);
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector("[type=search]").focus();
  } else if (choice) {
    event.preventDefault();
    choice.checked = true;
    (question.nextElementSibling.querySelector("[data-key]") || choice).focus();
  }
});

document.addEventListener("htmx:afterSettle", () => {
  (document.querySelector("[autofocus]") || document.querySelector(location.hash || "h1") || document.body).focus();
});
