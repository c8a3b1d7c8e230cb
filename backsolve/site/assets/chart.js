// A chart drawn by Observable Plot: curves with their names at their ends, marked values, points, and what can be taken away of it.
"use strict";

(function () {
  const { figure, unitOf } = backsolve.form;

  const LETTER = 6.6, SMALL = 12, GAP = 14, NARROW = 480; // px

  /** The colours of roles, as the style sheet has them for a light or a dark page. */
  const colourOf = (role) => getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim() || "currentColor";

  /** The unit of an axis from its greatest value: size and name. */
  function unitFor({ row, words }, values) {
    if (!row) return { size: 1, title: words };
    const most = Math.max(...values.map(Math.abs)), [, size, unit] = row.units[unitOf(row, most)];
    if (/^[kMBT]?$/.test(unit) && most < 1e6) return { size: 1, title: words };
    return { size, title: words + (unit.trim() ? ` [${unit.trim()}]` : "") };
  }

  /** Places from the top, moved apart until each has room. */
  function apart(places, low, high) {
    const order = places.map((at, k) => ({ at, k })).sort((a, b) => a.at - b.at);
    order.forEach((one, k) => { if (k) one.at = Math.max(one.at, order[k - 1].at + GAP); });
    for (let k = order.length - 1; k >= 0; k--) order[k].at = Math.min(order[k].at, k === order.length - 1 ? high : order[k + 1].at - GAP);
    return order.reduce((found, { at, k }) => { found[k] = Math.max(at, low); return found; }, []);
  }

  /**
   * Draws a chart. `x` and `y` are {row, words, log, low, high, rows}: `row` of the quantity gives the unit, `rows` names rows instead of numbers.
   * `lines` are {words, role, points, dashed}, `bars` {y, from, to, words, role}, `rules` {x or y, words}, `dots` {x, y, words, role, symbol}, `areas` {points of [x, low, high], role}.
   */
  function draw({ x, y, lines = [], bars = [], rules = [], dots = [], areas = [], told }, width) {
    const { Plot } = globalThis, all = [...lines.flatMap((line) => line.points), ...dots.map((dot) => [dot.x, dot.y])];
    const ux = unitFor(x, [...(x.high ? [x.high] : all.map(([at]) => at))]), uy = unitFor(y, y.rows ? [1] : [y.high ?? Math.max(...all.map(([, value]) => value))]);
    const put = ([at, value]) => ({ x: at / ux.size, y: y.rows ? value : value / uy.size });
    const top = y.rows ? 0 : (y.high ?? 1.04 * Math.max(...all.map(([, value]) => value))) / uy.size, named = lines.filter((line) => line.words), quiet = colourOf("quiet"), text = colourOf("text");
    const positive = all.map(([, value]) => value).filter((value) => value > 0), base = y.log ? Math.max(Math.min(...positive), y.high ? y.high / 1e4 : 0) / uy.size / 1.2 : y.low ?? 0;
    const right = named.length ? Math.min(Math.max(...named.map(({ words }) => words.length)) * LETTER + 14, width * 0.38) : 20, height = width < NARROW ? 212 : 280, left = y.rows || top < 1e6 ? 52 : 62;
    const clip = (value) => Math.min(Math.max(value, base), top);
    const options = {
      width, height, marginLeft: left, marginRight: right, marginTop: 34, marginBottom: 40, style: { fontSize: `${SMALL}px`, fontFamily: "system-ui, sans-serif", color: text, background: "transparent" },
      x: { type: x.log ? "log" : "linear", domain: [(x.low || 0) / ux.size, x.high / ux.size], label: `${ux.title} →`, ticks: Math.max(width / 120, 2), ...(x.format ? { tickFormat: x.format } : {}) },
      y: y.rows ? { domain: y.rows, label: null } : { type: y.log ? "log" : "linear", domain: [base, top], label: `↑ ${uy.title}`, grid: true, ticks: 5 } };
    const decades = (low, high) => (value) => ((high / low > 200 ? ["1"] : ["1", "2", "5"]).includes(value.toExponential()[0]) ? figure(value, 3) : "");
    if (x.log && !x.format) options.x.tickFormat = decades(...options.x.domain);
    if (y.log) options.y.tickFormat = decades(base, top);
    const placed = (words, k) => apart(named.map(({ points }) => endOf(points)), 34, height - 40)[k];
    const scale = (value) => { const [low, high] = [base, top].map(y.log ? Math.log : Number), at = (y.log ? Math.log(value) : value) - low; return height - 40 - (at / (high - low)) * (height - 74); };
    const endOf = (points) => scale(clip(points[points.length - 1][1] / uy.size));
    const ends = named.map((line, k) => ({ words: line.words, dy: placed(line.words, k) - endOf(line.points), x: x.high / ux.size, y: clip(line.points[line.points.length - 1][1] / uy.size), role: line.role }));
    const marks = [
      ...areas.map(({ points, role }) => Plot.areaY(points.map(([at, low, high]) => ({ x: at / ux.size, low: low / uy.size, high: high / uy.size })), { x: "x", y1: "low", y2: "high", fill: colourOf(role), fillOpacity: 0.15, clip: true })),
      ...rules.flatMap((rule, k) => ("y" in rule ? [Plot.ruleY([rule.y / uy.size], { stroke: quiet, strokeDasharray: "2 3" })] : [
        Plot.ruleX([rule.x / ux.size], { stroke: quiet, strokeDasharray: "2 3", clip: true }),
        ...(rule.x <= x.high && rule.x >= (x.low || 0) ? [Plot.text([rule.words], { x: rule.x / ux.size, frameAnchor: "top", dy: -4 + (k % 2) * GAP, dx: rule.x > x.high / 2 ? -4 : 4, textAnchor: rule.x > x.high / (x.log ? 30 : 2) ? "end" : "start", fill: text })] : [])])),
      ...bars.map((bar) => Plot.ruleY([bar], { y: () => bar.y, x1: bar.from / ux.size, x2: bar.to / ux.size, stroke: colourOf(bar.role), strokeWidth: 16, strokeOpacity: 0.45, title: () => bar.words })),
      ...lines.map((line) => Plot.line(line.points.map(put), { x: "x", y: "y", stroke: colourOf(line.role), strokeWidth: line.role === "total" ? 3.2 : 1.8, strokeDasharray: line.dashed ? "5 4" : null, clip: true })),
      ...dots.map((dot) => Plot.dot([put([dot.x, dot.y])], { x: "x", y: "y", r: 5, symbol: dot.symbol || "circle", fill: dot.hollow ? colourOf("page") : colourOf(dot.role), stroke: colourOf(dot.role), strokeWidth: 2, clip: y.rows ? false : true, title: () => dot.words })),
      ...dots.filter((dot) => dot.label && dot.x <= x.high && (y.rows || dot.y / uy.size <= top)).map((dot) => Plot.text([put([dot.x, dot.y])], { x: "x", y: "y", text: () => dot.words, dx: 8, dy: dot.hollow ? -9 : 14, textAnchor: "start", fill: text, stroke: colourOf("page"), strokeWidth: 3 })),
      ...ends.map((end) => Plot.text([end], { x: "x", y: "y", text: "words", dx: 5, dy: end.dy, textAnchor: "start", fill: colourOf(end.role), fontWeight: end.role === "total" ? 700 : 400 }))];
    const svg = Plot.plot({ ...options, marks, ariaLabel: told });
    svg.setAttribute("role", "img");
    for (const part of svg.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label"); // the picture has a name, its parts have none
    return svg;
  }

  function saved(name, address) {
    const link = document.createElement("a");
    Object.assign(link, { href: address, download: name });
    link.click();
  }

  /** The curves as a table: a row for each place across, a column for each curve, in SI. */
  function csv({ x, lines }) {
    const columns = lines.map((line) => new Map(line.points)), places = [...new Set(lines.flatMap((line) => line.points.map(([at]) => at)))].sort((a, b) => a - b);
    const quoted = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const heads = [`${x.words}${x.row ? ` [${x.row.unit}]` : ""}`, ...lines.map(({ words }) => words)];
    return [heads.map(quoted), ...places.map((at) => [at, ...columns.map((column) => column.get(at) ?? "")])].map((row) => row.join(",")).join("\n") + "\n";
  }
  const saveCsv = (name, text) => saved(`${name}.csv`, `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`);

  /** The picture as it is on the page, at twice its size. */
  async function savePng(name, svg) {
    const { width, height } = svg.viewBox.baseVal, canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    const image = new Image(), pen = canvas.getContext("2d");
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
    await image.decode();
    pen.fillStyle = colourOf("page");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    saved(`${name}.png`, canvas.toDataURL("image/png"));
  }

  backsolve.chart = { apart, csv, draw, saveCsv, savePng };
})();
