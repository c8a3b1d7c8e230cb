// What scrolls by itself is reached by keys, as far as it has more to show than there is room; what is folded is open on paper, and where a link leads there.
"use strict";
(() => {
  const reachable = () => {
    for (const one of document.querySelectorAll("pre, .statement, .formula, .scroll, .shown, .prose table")) {
      if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  };
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.fold:not([open])")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  const openedByLink = () => {
    const one = document.getElementById(location.hash.slice(1));
    if (one && one.matches("details.fold")) one.open = true;
  };
  openedByLink();
  addEventListener("hashchange", openedByLink);
  reachable();
  addEventListener("resize", reachable);
  document.addEventListener("toggle", reachable, true);
})();
