// What every page does: copies texts, reaches by keys what scrolls by itself, and opens what is folded where a link leads there.
"use strict";
(() => {
  const copied = (text) => Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => true, () => false);

  /** A button that copies a text; where that is not allowed it selects the element, or shows the text. */
  function button(said, text, element = null) {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: said });
    made.addEventListener("click", async () => {
      const whole = text(), done = await copied(whole);
      if (!done && element) getSelection().selectAllChildren(element);
      made.textContent = done ? "Copied" : element ? "Selected: copy it with the keyboard" : whole;
      setTimeout(() => { made.textContent = said; }, 2000);
    });
    return made;
  }
  (globalThis.backsolve ??= {}).copy = { button };

  for (const text of document.querySelectorAll("pre.copied")) {
    text.before(button(`Copy ${text.closest("details").querySelector("summary").textContent}`, () => text.textContent, text));
  }
  if (!document.querySelector("#board, #desk, #solver, #what-if-form")) document.querySelector("footer").append(button("Copy link", () => location.href));

  for (const field of document.querySelectorAll("[data-filters]")) {
    const rows = [...document.getElementById(field.dataset.filters).tBodies[0].rows];
    field.closest("p").hidden = false;
    field.addEventListener("input", () => { const words = field.value.toLowerCase().split(" "); for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word)); });
  }

  function reachable() {
    for (const one of document.querySelectorAll("pre, .statement, .formula, .scroll, .prose table")) {
      if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  }
  reachable();
  addEventListener("resize", reachable);
  document.addEventListener("toggle", reachable, true);

  const openLinked = () => document.getElementById(location.hash.slice(1))?.closest("details.fold")?.setAttribute("open", "");
  openLinked();
  addEventListener("hashchange", openLinked);
})();
