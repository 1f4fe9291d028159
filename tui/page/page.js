"use strict";
(function () {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const one = (selector) => document.querySelector(selector);
  const cases = all("article.case");
  document.documentElement.classList.add("js");

  // A region and its line in the list below the picture light up together, under the mouse or where
  // Tab put the focus.
  const light = (event) => {
    const part = event.target.closest("[data-region]");
    all(".lit").forEach((lit) => lit.classList.remove("lit"));
    if (part)
      all('[data-region="' + part.dataset.region + '"]', part.closest("figure"))
        .forEach((same) => same.classList.add("lit"));
  };
  document.addEventListener("mouseover", light);
  document.addEventListener("focusin", light);

  // Captions word by word: a row of the alignment at a time, on both sides.
  const captions = one("article.captions");
  if (captions) {
    const rows = Number(captions.dataset.rows), play = one("[data-go=play]");
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    let row = 0, timer = 0;
    const go = (to) => {
      row = Math.max(0, Math.min(rows - 1, to));
      all("section.side").forEach((side) => {
        const here = all('[data-row="' + row + '"]', side);
        side.classList.toggle("silent", !here.length); // the other side has a word here
        if (!here.length) return;
        all(".now", side).forEach((part) => part.classList.remove("now"));
        here.forEach((part) => part.classList.add("now"));
        all(".caption-word", side).forEach((word) =>
          word.setAttribute("aria-pressed", String(word.classList.contains("now"))));
      });
    };
    const pause = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; };
    const step = (by) => { pause(); go(row + by); };
    const tick = () => { if (row + 1 < rows) go(row + 1); else pause(); };
    const toggle = () => {
      if (timer) { pause(); return; }
      if (still.matches) return; // nothing moves by itself
      if (row + 1 === rows) go(0);
      timer = setInterval(tick, 900);
      play.textContent = "Pause";
    };
    // The look of a side: one that it lacks is that of its top layer, the mean over the heads.
    const choices = all("[data-choose]"), sides = all("section.side");
    const lookOf = (side) => {
      const chosen = (name, most, other) => {
        const choice = choices.find((one) => one.dataset.choose === name);
        return choice && Number(choice.value) < most ? Number(choice.value) : other;
      };
      const layers = Number(side.dataset.layers), heads = Number(side.dataset.heads);
      return chosen("layer", layers, layers - 1) * (heads + 1) + chosen("head", heads, -1) + 1;
    };
    // A figure as another look: its parts are copies of those in the template.
    const draw = (figure, parts, look) => {
      const [rest, ...regions] =
        figure.dataset.looks.split("|")[look].split(";").map((entry) => entry.split(","));
      const copy = (selector, region, to) => {
        const part = parts.querySelector(selector + '[data-region="' + region + '"]');
        return part && to && to.appendChild(part.cloneNode(true));
      };
      const svg = figure.querySelector("svg"), list = figure.querySelector("ol");
      all(".region, .label, li", figure).forEach((part) => part.remove());
      [...regions].reverse().forEach(([region, weight]) => {
        const part = copy(".region", region, svg);
        if (part) part.classList.add(weight);
      });
      regions.forEach(([region, , share, x, y, percent]) => {
        const label = copy(".label", region, svg), bar = copy("li", region, list).lastElementChild;
        if (label) label.setAttribute("transform", "translate(" + x + " " + y + ")");
        bar.setAttribute("style", "--w:" + share);
        bar.textContent = percent;
      });
      figure.querySelector(".rest").textContent = rest[0];
    };
    const choose = () => {
      const looks = sides.map(lookOf);
      sides.forEach((side, index) => {
        const parts = side.querySelector("template.parts");
        all("[data-looks]", side).forEach((figure) => draw(figure, parts.content, looks[index]));
        all("[data-look]", side).forEach((part) => part.classList.toggle("away",
          Number(part.dataset.look) !== looks[part.classList.contains("thin") ? 1 - index : index]));
      });
    };
    const next = (name) => {
      const choice = choices.find((one) => one.dataset.choose === name);
      if (!choice) return;
      choice.selectedIndex = (choice.selectedIndex + 1) % choice.length;
      choose();
    };
    const hide = () => { pause(); play.hidden = still.matches; };
    const keys = { ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => step(-rows),
                   End: () => step(rows), " ": toggle, Escape: pause,
                   l: () => next("layer"), h: () => next("head") };
    choices.forEach((choice) => choice.addEventListener("change", choose));
    one("[data-go=back]").addEventListener("click", () => step(-1));
    one("[data-go=forth]").addEventListener("click", () => step(1));
    play.addEventListener("click", toggle);
    captions.addEventListener("click", (event) => {
      const part = event.target.closest(".caption-word, text[data-row]");
      if (part) { pause(); go(Number(part.dataset.row)); }
    });
    document.addEventListener("keydown", (event) => {
      const pressed = event.key === " " && event.target.closest("button") ||
        event.target.closest("select");
      if (event.ctrlKey || event.altKey || event.metaKey || pressed || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    still.addEventListener("change", hide);
    hide();
    go(0);
    return;
  }

  const browser = one(".browser");
  if (!browser) { // a transcript: everything is shown; j and k go from question to question
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || !"jk".includes(event.key)) return;
      const at = cases.indexOf(document.activeElement.closest("article.case"));
      const next = cases[Math.max(0, Math.min(cases.length - 1, at + (event.key === "j" ? 1 : -1)))];
      if (next) { next.focus({ preventScroll: true }); next.scrollIntoView(); }
    });
    return;
  }

  const list = one("#list"), items = all("#list li"), links = all("#list a");
  const buttons = all(".buttons button"), find = one("#find"), order = one("#order");
  const family = one("#family"), count = one("#count"), shown = one(".shown");
  const byId = new Map(cases.map((article) => [article.id, article]));
  const rows = items.map((item, index) => {
    const article = byId.get(links[index].getAttribute("href").slice(1));
    return { item, link: links[index], article, place: index,
             text: article.textContent.toLowerCase(), id: article.id };
  });
  let visible = rows, current = null;

  function show(row, focus) {
    current = row || null;
    rows.forEach((other) => {
      other.article.classList.toggle("away", other !== row);
      if (other === row) other.link.setAttribute("aria-current", "true");
      else other.link.removeAttribute("aria-current");
    });
    shown.classList.toggle("empty", !row);
    if (!row) return;
    const box = list.getBoundingClientRect(), at = row.item.getBoundingClientRect();
    list.scrollTop += at.top < box.top ? at.top - box.top : Math.max(0, at.bottom - box.bottom);
    if (focus) row.link.focus({ preventScroll: true });
  }

  // So that what is looked at can be linked to and is still there after a reload.
  function remember(row) {
    if (row && location.hash !== "#" + row.id) history.replaceState(null, "", "#" + row.id);
  }

  function filter() {
    const on = new Set(buttons.filter((b) => b.getAttribute("aria-pressed") === "true")
      .map((b) => b.dataset.group));
    const text = find.value.trim().toLowerCase();
    visible = rows.filter((row) => {
      const data = row.article.dataset;
      const fits = (!data.group || on.has(data.group)) && (!family || !family.value ||
        data.family === family.value) && (!text || row.text.includes(text));
      row.item.classList.toggle("away", !fits);
      return fits;
    });
    count.textContent = visible.length + " of " + rows.length + " cases";
    show(visible.includes(current) ? current : visible[0], false);
  }

  function sort() {
    const number = (row) => row.id.split("-").slice(1).map(Number);
    rows.sort((a, b) => {
      if (order.value === "moved") return a.place - b.place;
      const [x, y] = [number(a), number(b)];
      return x[0] - y[0] || x[1] - y[1];
    });
    rows.forEach((row) => list.append(row.item));
    filter();
  }

  function step(by) {
    const at = visible.indexOf(current);
    show(visible[Math.max(0, Math.min(visible.length - 1, at + by))], true);
    remember(current);
    window.scrollTo({ top: browser.offsetTop });
  }

  function toggle(button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    filter();
  }

  function reset() {
    buttons.forEach((button) => button.setAttribute("aria-pressed", "true"));
    find.value = "";
    if (family) family.value = "";
    filter();
  }

  buttons.forEach((button) => button.addEventListener("click", () => toggle(button)));
  find.addEventListener("input", filter);
  order.addEventListener("change", sort);
  if (family) family.addEventListener("change", filter);
  rows.forEach((row) => row.link.addEventListener("click", (event) => {
    event.preventDefault();
    show(row, true);
    remember(row);
  }));
  window.addEventListener("hashchange", () => {
    const row = rows.find((other) => "#" + other.id === location.hash);
    if (row) { if (!visible.includes(row)) reset(); show(row, false); }
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const typing = event.target.closest("input, select");
    if (event.key === "Escape") { reset(); document.activeElement.blur(); return; }
    if (typing) return;
    const keys = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const inList = event.target.closest("#list");
    if (event.key === "j" || event.key === "k" || (inList && event.key in keys)) {
      event.preventDefault();
      step(keys[event.key]);
    } else if (event.key === "/") {
      event.preventDefault();
      find.focus();
    } else if (event.key >= "1" && event.key <= "4") {
      toggle(buttons[event.key - 1]);
    }
  });

  filter();
  const start = rows.find((row) => "#" + row.id === location.hash);
  if (start) show(start, false);
})();
