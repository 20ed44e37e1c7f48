/** The plots over time, by uPlot; the time that they show is the timeline's. */
import uPlot from 'uplot';
import type { FaultBand, PageData, Plots } from '../data/page-data.js';
import { onThemeChange, readTheme, type Theme } from './theme.js';
import type { View } from './view.js';

/** Shared by all of them, so that their cursors are one. */
const SYNC = 'run';
const FOLLOW_MS = 120;
const LEAST_MS = 0.01;

interface Plot {
  id: string;
  height: number;
  options(theme: Theme): Pick<uPlot.Options, 'series'> & { scale: uPlot.Scale; unit: string };
  data: uPlot.AlignedData;
}

export function showPlots(data: PageData, view: View): void {
  let shown: uPlot[] = [];
  const make = () => {
    for (const one of shown) one.destroy();
    const theme = readTheme();
    shown = plotsOf(data.plots).flatMap((plot) => {
      const box = document.getElementById(plot.id);
      return box === null ? [] : [new uPlot(optionsOf(plot, theme, data.faults, view, box), plot.data, box)];
    });
  };
  make();
  onThemeChange(make);
  let following: number | undefined;
  view.listen(() => {
    clearTimeout(following);
    following = window.setTimeout(() => {
      for (const one of shown) one.setScale('x', { min: view.fromUs / 1e6, max: view.untilUs / 1e6 });
    }, FOLLOW_MS);
  });
  new ResizeObserver(() => {
    for (const one of shown) one.setSize({ width: widthOf(one.root.parentElement!), height: one.height });
  }).observe(document.getElementById('plots')!);
}

function widthOf(box: HTMLElement): number {
  return Math.max(240, box.clientWidth);
}

function plotsOf(plots: Plots): Plot[] {
  return [
    latency(plots),
    rate(plots),
    ...(plots.recovery.length > 0 ? [milliseconds('plot-recovery', plots.recovery)] : []),
    ...(plots.losses.length > 0 ? [milliseconds('plot-losses', plots.losses)] : []),
    ...(plots.clocks.length > 0 ? [clocks(plots)] : []),
  ];
}

function latency({ points, bins, binSeconds, p50Ms, p99Ms }: Plots): Plot {
  const begins = bins.map((middle) => middle - binSeconds / 2);
  return {
    id: 'plot-latency',
    height: 240,
    data: uPlot.join([[begins, p50Ms, p99Ms], table(points.granted), table(points.refused), table(points.unclear)]),
    options: (theme) => ({
      unit: 'ms',
      scale: { distr: 3, log: 10 },
      series: [
        {},
        { ...line('granted: median', theme.colour('text'), []), paths: uPlot.paths.stepped!({ align: 1 }) },
        { ...line('granted: 99 % below', theme.colour('text'), [5, 3]), paths: uPlot.paths.stepped!({ align: 1 }) },
        dots('granted', theme.colour('good'), 5),
        dots('refused', theme.colour('crowd'), 4),
        dots('cannot tell', theme.colour('fault'), 7),
      ],
    }),
  };
}

/** On a logarithmic scale: nothing is quicker than what it begins with. */
function table({ s, ms }: { s: number[]; ms: number[] }): uPlot.AlignedData {
  return [s, ms.map((value) => Math.max(LEAST_MS, value))];
}

function milliseconds(id: string, lists: Plots['losses']): Plot {
  const colours = ['k0', 'fault'];
  return {
    id,
    height: 180,
    data: uPlot.join(lists.map(table)),
    options: (theme) => ({
      unit: 'ms',
      scale: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
      series: [{}, ...lists.map(({ label }, at) => dots(label, theme.colour(colours[at]!), 7 + 2 * at))],
    }),
  };
}

function rate({ bins, perSecond }: Plots): Plot {
  return {
    id: 'plot-rate',
    height: 180,
    data: [bins, perSecond.granted, perSecond.refused, perSecond.unclear],
    options: (theme) => ({
      unit: '/s',
      scale: { range: (_, __, max) => [0, Math.max(1, max * 1.05)] },
      series: [
        {},
        line('succeeded', theme.colour('good'), []),
        line('refused', theme.colour('crowd'), [5, 3]),
        line('cannot tell', theme.colour('fault'), [2, 2]),
      ],
    }),
  };
}

function clocks({ bins, clocks: hosts }: Plots): Plot {
  return {
    id: 'plot-clocks',
    height: 180,
    data: [bins, ...hosts.map(({ ms }) => ms)],
    options: (theme) => ({
      unit: 'ms',
      scale: {},
      series: [{}, ...hosts.map(({ host }, at) => line(host, theme.key(at), at % 2 === 0 ? [] : [5, 3]))],
    }),
  };
}

function dots(label: string, colour: string, size: number): uPlot.Series {
  return {
    label,
    stroke: colour,
    fill: colour,
    paths: () => null,
    points: { show: true, size, width: 0, fill: colour },
  };
}

function line(label: string, colour: string, dash: number[]): uPlot.Series {
  return { label, stroke: colour, width: 1.6, dash, spanGaps: true, points: { show: false } };
}

function optionsOf(
  plot: Plot,
  theme: Theme,
  faults: readonly FaultBand[],
  view: View,
  box: HTMLElement,
): uPlot.Options {
  const { series, scale, unit } = plot.options(theme);
  const axis = {
    stroke: theme.colour('muted'),
    font: theme.font(11),
    grid: { stroke: theme.colour('grid'), width: 1 },
    ticks: { show: false },
  };
  const figure = (value: number | null | undefined, digits: number, after: string) =>
    value === null || value === undefined ? '–' : `${Number(value.toFixed(digits))}${after}`;
  return {
    width: widthOf(box),
    height: plot.height,
    legend: { live: true },
    cursor: { sync: { key: SYNC }, drag: { x: true, y: false }, points: { size: 7 } },
    scales: { x: { time: false, min: view.fromUs / 1e6, max: view.untilUs / 1e6 }, y: scale },
    axes: [
      { ...axis, size: 32, values: (_, values) => values.map((s) => `${s} s`) },
      { ...axis, size: 64, values: (_, values) => values.map((value) => (value === null ? '' : `${value} ${unit}`)) },
    ],
    series: series.map((one, at) => ({
      ...one,
      ...(at === 0 ? { label: 'time' } : {}),
      value: (_, value) => figure(value, 3, at === 0 ? ' s' : ` ${unit}`),
    })),
    hooks: {
      drawClear: [(u) => drawBands(u, faults, theme)],
      // Zooming in a plot zooms the timeline, and with it the other plots.
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          view.show(u.posToVal(u.select.left, 'x') * 1e6, u.posToVal(u.select.left + u.select.width, 'x') * 1e6);
        },
      ],
    },
  };
}

function drawBands(u: uPlot, faults: readonly FaultBand[], theme: Theme): void {
  const { left, top, width, height } = u.bbox;
  u.ctx.fillStyle = theme.colour('fault-soft');
  for (const { fromUs, untilUs } of faults) {
    const x = Math.max(left, u.valToPos(fromUs / 1e6, 'x', true));
    const untilX = Math.min(left + width, u.valToPos(untilUs / 1e6, 'x', true));
    if (untilX > x) u.ctx.fillRect(x, top, untilX - x, height);
  }
}
