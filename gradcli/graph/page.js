'use strict';
(function () {
  var svg = document.querySelector('main svg'), field = document.getElementById('find'), found = document.getElementById('found');
  var full = svg.viewBox.baseVal, size = [full.width, full.height], box = [0, 0, 1, 1], chosen = null;
  var nodes = {}, above = {}, below = {}, edges = [];
  svg.querySelectorAll('.drawing g[id]').forEach(function (g) { nodes[g.id] = g; above[g.id] = []; below[g.id] = []; });
  svg.querySelectorAll('.edge').forEach(function (e) {
    var a = e.getAttribute('data-from'), b = e.getAttribute('data-to');
    edges.push([e, a, b]);
    if (nodes[a] && nodes[b]) { above[b].push(a); below[a].push(b); }
  });
  svg.querySelectorAll('.drawing a').forEach(function (a) {
    var origin = a.getAttribute('href').slice(1), stub = a.querySelector('g').id;
    if (nodes[origin]) { above[stub].push(origin); below[origin].push(stub); }
    a.addEventListener('click', function (event) { event.preventDefault(); });
  });
  svg.removeAttribute('width'); svg.removeAttribute('height');
  function show() { svg.setAttribute('viewBox', box.join(' ')); }
  function fit() {
    var w = svg.clientWidth || 1, h = svg.clientHeight || 1, scale = Math.max(size[0] / w, Math.min(1, size[1] / h));
    scale = Math.max(scale, 0.75);
    box = [(size[0] - w * scale) / 2, size[1] > h * scale ? 0 : (size[1] - h * scale) / 2, w * scale, h * scale]; show();
  }
  function zoom(factor, x, y) {
    box = [x - (x - box[0]) * factor, y - (y - box[1]) * factor, box[2] * factor, box[3] * factor]; show();
  }
  function point(event) {
    var r = svg.getBoundingClientRect();
    return [box[0] + (event.clientX - r.left) / r.width * box[2], box[1] + (event.clientY - r.top) / r.height * box[3]];
  }
  function reach(start, links) {
    var seen = {}, stack = [start], id;
    while (stack.length) { id = stack.pop(); if (!seen[id]) { seen[id] = true; stack.push.apply(stack, links[id]); } }
    return seen;
  }
  function paint(lit) {
    Object.keys(nodes).forEach(function (id) { nodes[id].classList.toggle('dim', lit !== null && !lit[id]); });
    edges.forEach(function (e) {
      var on = lit !== null && lit[e[1]] && lit[e[2]];
      e[0].classList.toggle('lit', Boolean(on)); e[0].classList.toggle('dim', lit !== null && !on);
    });
  }
  function choose(id) {
    chosen = id === chosen ? null : id;
    if (chosen === null) { paint(null); return; }
    paint(Object.assign(reach(chosen, above), reach(chosen, below)));
  }
  function center(id) {
    var g = nodes[id].getBBox(), m = nodes[id].getCTM(), s = svg.getCTM(), p = svg.createSVGPoint();
    p.x = g.x + g.width / 2; p.y = g.y + g.height / 2; p = p.matrixTransform(s.inverse().multiply(m));
    box[0] = p.x - box[2] / 2; box[1] = p.y - box[3] / 2; show();
  }
  var hits = [], at = -1;
  function find() {
    var want = field.value.trim().toLowerCase(); hits = []; at = -1;
    Object.keys(nodes).forEach(function (id) {
      var hit = want !== '' && nodes[id].textContent.toLowerCase().indexOf(want) !== -1;
      nodes[id].classList.toggle('hit', hit);
      if (hit) { hits.push(id); }
    });
    found.textContent = want === '' ? '' : hits.length + (hits.length === 1 ? ' node' : ' nodes');
  }
  field.addEventListener('input', find);
  field.addEventListener('keydown', function (event) {
    if (event.key === 'Enter' && hits.length) { at = (at + 1) % hits.length; center(hits[at]); found.textContent = (at + 1) + ' of ' + hits.length; }
    if (event.key === 'Escape') { field.value = ''; find(); }
  });
  document.querySelectorAll('input[data-status]').forEach(function (input) {
    input.addEventListener('change', function () {
      var off = {}, lit = {};
      document.querySelectorAll('input[data-status]').forEach(function (i) { if (!i.checked) { off[i.getAttribute('data-status')] = true; } });
      Object.keys(nodes).forEach(function (id) {
        var hidden = Object.keys(off).some(function (s) { return s === '' ? !nodes[id].hasAttribute('data-status') : nodes[id].getAttribute('data-status') === s; });
        if (!hidden) { lit[id] = true; }
      });
      paint(Object.keys(off).length ? lit : null);
    });
  });
  svg.addEventListener('wheel', function (event) {
    event.preventDefault(); var p = point(event); zoom(Math.exp(event.deltaY * 0.0015), p[0], p[1]);
  }, { passive: false });
  var drag = null, moved = false;
  svg.addEventListener('pointerdown', function (event) { drag = [event.clientX, event.clientY]; moved = false; });
  window.addEventListener('pointermove', function (event) {
    if (drag === null) { return; }
    var dx = event.clientX - drag[0], dy = event.clientY - drag[1], scale = box[2] / svg.clientWidth;
    if (Math.abs(dx) + Math.abs(dy) > 3) { moved = true; svg.classList.add('dragging'); }
    if (moved) { box[0] -= dx * scale; box[1] -= dy * scale; drag = [event.clientX, event.clientY]; show(); }
  });
  window.addEventListener('pointerup', function () { drag = null; svg.classList.remove('dragging'); });
  svg.addEventListener('click', function (event) {
    if (moved) { return; }
    var g = event.target.closest('.drawing g[id]');
    if (g) { choose(g.id); } else { chosen = null; paint(null); }
  });
  document.addEventListener('keydown', function (event) {
    if (event.target === field) { return; }
    if (event.key === '/') { event.preventDefault(); field.focus(); }
    if (event.key === 'Escape') { chosen = null; paint(null); }
    if (event.key === '+' || event.key === '=') { zoom(0.8, box[0] + box[2] / 2, box[1] + box[3] / 2); }
    if (event.key === '-') { zoom(1.25, box[0] + box[2] / 2, box[1] + box[3] / 2); }
    if (event.key === '0') { fit(); }
  });
  document.getElementById('fit').addEventListener('click', fit);
  window.addEventListener('resize', fit);
  fit();
}());
