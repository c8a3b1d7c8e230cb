// A sheet at other prices: sliders for the published ones, and the readings that have a closed form, worked out anew as they move.
"use strict";
(() => {
  const { engine, form } = backsolve, { element } = form;
  const place = document.getElementById("what-if-form");
  const { fields, nice, readings } = JSON.parse(document.getElementById("what-if-data").textContent);
  const published = Object.fromEntries(fields.map(({ name, price }) => [name, price])), prices = { ...published };
  const nearest = (tiers, value) => tiers.map(([tier, at]) => [Math.abs(Math.log(at / value)), tier]).sort(([a], [b]) => a - b)[0][1];
  const number = (value, { size, unit, digits }) => `${Number((value / size).toPrecision(digits)).toLocaleString("en")} ${unit}`.trim();
  const shown = (value, reading) => number(value, reading) + (reading.tiers ? `, ${nearest(reading.tiers, value)}` : "");
  const rows = Object.fromEntries(fields.map(({ name, quantity }) => [name, engine.rowOf(backsolve.quantities[quantity])]));
  const changed = (name) => (knob) => { if (!knob.wrong) prices[name] = knob.value; moved(); };
  const knobs = Object.fromEntries(fields.map(({ name, words }) => [name, form.knob(rows[name], words, changed(name), [published[name] / 10, published[name] * 10])]));
  const cells = readings.map(() => element("td"));
  const pairs = () => fields.filter(({ name }) => !knobs[name].wrong && prices[name] !== published[name]).map(({ name }) => [name, form.typedFor(rows[name], prices[name])]);

  const { notice, moved, link } = form.shared(pairs, work);

  /** The prices, and the premium in the middle of its rounding cell, as rounding_cell of invert/sheets/observables.py has it. */
  function rounded() {
    if (!prices.output_above) return prices;
    const premium = prices.output_above / prices.output, decade = 10 ** Math.floor(Math.log10(premium)), scaled = premium / decade, SAME = 1e-9;
    const below = nice.findLast((one) => one < scaled * (1 - SAME)), above = nice.find((one) => one > scaled * (1 + SAME));
    return { ...prices, rounded_premium: Math.sqrt(scaled * Math.sqrt(below * above)) * decade };
  }

  /** The prices of a link, whose place on the page is then this one. */
  function fromAddress() {
    const asked = form.asked(), texts = new Map(asked), isField = ([name]) => name in knobs;
    form.fill(knobs, Object.assign(prices, published), texts);
    notice.textContent = form.refused(asked.filter((pair) => !isField(pair)));
    work();
    if (asked.length) place.parentElement.scrollIntoView();
  }

  function work() {
    const none = fields.find(({ name }) => knobs[name].wrong), given = rounded();
    readings.forEach((reading, at) => {
      const all = engine.chain(reading.legs, { ...reading.given, ...given }), holds = reading.legs.every(({ makes }) => all[makes] >= 0 && Number.isFinite(all[makes]));
      cells[at].textContent = none ? `none: ${none.words} cannot be used` : holds ? shown(all[reading.makes], reading) : "none: these prices contradict it";
    });
  }

  const back = element("button", { type: "button", onclick: () => { form.fill(knobs, Object.assign(prices, published)); moved(); } }, "As published");
  const heads = ["estimate", "as published", "at these prices"].map((text) => element("th", { scope: "col" }, text));
  const lines = readings.map((reading, at) => element("tr", {}, element("th", { scope: "row" }, reading.words), element("td", {}, shown(reading.value, reading)), cells[at]));
  place.classList.add("solver");
  place.append(
    notice, element("div", { class: "knobs", role: "group", "aria-label": "Prices" }, ...fields.map(({ name }) => knobs[name].root)), element("p", {}, back, " ", link()),
    element("div", { class: "scroll", role: "status", tabindex: "0", "aria-label": "Estimates" }, element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...lines))));
  form.live(fromAddress, work);
})();
