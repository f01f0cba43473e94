// Events of the grids: `data-c` of a cell is its class of hands or its card, `data-w` its weight in a range.

const cellAt = (e) => e.target.closest('[data-c]');

function tellCell(e, emit) {
  const c = cellAt(e);
  if (c) emit(Number(c.dataset.c));
}

// the arrow keys go from cell to cell
function moveFocus(e) {
  const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -13, ArrowDown: 13}[e.key], c = cellAt(e);
  if (!step || !c) return;
  const cells = [...e.currentTarget.querySelectorAll('[data-c]')], next = cells[cells.indexOf(c) + step];
  if (next) { c.tabIndex = -1; next.tabIndex = 0; next.focus(); }
  e.preventDefault();
}

// what is drawn in one go, by mouse or finger, has one weight: 0 if it begins on a cell that has the brush's
function beginPainting(e) {
  const g = e.currentTarget, c = cellAt(e);
  if (!c || e.button) return;
  const brush = g.closest('[data-brush]').dataset.brush;
  g.painted = new Map();
  g.weight = c.dataset.w === brush ? '0' : brush;
  g.paint = (cell) => {
    if (!cell || !g.contains(cell) || g.painted.has(cell.dataset.c)) return;
    g.painted.set(cell.dataset.c, cell);
    const fill = `linear-gradient(var(--in), var(--in)) bottom / 100% ${100 * g.weight}%`;
    cell.style.background = `${fill} no-repeat, var(--cell)`;
  };
  g.at = [e.clientX, e.clientY];
  g.paint(c);
}

// cells between two events of a fast movement are painted too
function goOnPainting(e) {
  const g = e.currentTarget;
  if (!g.painted) return;
  const [x, y] = g.at, dx = e.clientX - x, dy = e.clientY - y, steps = Math.ceil(Math.hypot(dx, dy) / 6);
  for (let i = 1; i <= steps; i++)
    g.paint(document.elementFromPoint(x + dx * i / steps, y + dy * i / steps)?.closest('[data-c]'));
  g.at = [e.clientX, e.clientY];
}

function endPainting(e, emit) {
  const g = e.currentTarget;
  if (!g.painted) return;
  emit([...g.painted.keys()].map(Number), Number(g.weight));
  g.painted = null;
}

function paintByKey(e, emit) {
  const c = cellAt(e);
  if (!c || (e.key !== ' ' && e.key !== 'Enter')) return;
  const brush = e.currentTarget.closest('[data-brush]').dataset.brush;
  emit([Number(c.dataset.c)], c.dataset.w === brush ? 0 : Number(brush));
  e.preventDefault();
}

// a walk through a tree is the fragment of the address, as in `#spot/check/bet60`: back and forward step in it
function pushWalk(words) {
  const fragment = '#' + words.map(encodeURIComponent).join('/');
  if (location.hash !== fragment) history.pushState(null, '', fragment);
}

function tellWalk() {
  const [kind, ...words] = location.hash.slice(1).split('/').map(decodeURIComponent);
  for (const e of document.querySelectorAll('[data-walk]'))  // a walk that is not in the address is at its start
    e.dispatchEvent(new CustomEvent('walk', {detail: kind === e.dataset.walk ? words : []}));
}

window.addEventListener('popstate', tellWalk);
