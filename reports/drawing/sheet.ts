/**
 * One drawing: time to the right; below each other the phases, the faults, what the clients held and what the servers
 * believed. The close-up of a violation is one.
 *
 * Everything drawn maps back to its time: `data-from-ns`, `data-until-ns`, `data-left` and `data-right` on the drawing
 * give the scale. A violation is always drawn; the rest merges where it could not be distinguished, and `notes` says so.
 */
import { type Markup, markup } from '../markup.js';
import { drawAxis, drawGrid, drawPhases } from './axis.js';
import { Canvas, LEFT, RIGHT, type SheetOptions, WIDTH } from './canvas.js';
import { drawSlots } from './clients.js';
import { drawFaultBands, drawFaultRows } from './faults.js';
import { drawFlagLines, drawFlags } from './flags.js';
import { drawMark, placeMark } from './marks.js';
import { drawNodes, drawOtherHosts } from './servers.js';

export interface SheetDrawing {
  svg: Markup;
  /** What was merged or left out. */
  notes: string[];
}

export function drawSheet(options: SheetOptions): SheetDrawing {
  const canvas = new Canvas(options);
  drawPhases(canvas);
  const axisY = drawAxis(canvas);
  drawFlags(canvas);
  const markY = placeMark(canvas);
  drawFaultRows(canvas);
  drawSlots(canvas);
  drawNodes(canvas);
  drawOtherHosts(canvas);
  drawGrid(canvas, axisY);
  drawFaultBands(canvas);
  drawMark(canvas, markY);
  drawFlagLines(canvas);
  const height = canvas.y + 4;
  const svg = markup`<svg class="sheet" role="img" aria-label="${options.name}" viewBox="0 0 ${WIDTH} ${height}" data-from-ns="${String(options.fromNs)}" data-until-ns="${String(options.untilNs)}" data-left="${LEFT}" data-right="${RIGHT}">${canvas.behind}${canvas.main}${canvas.front}</svg>`;
  return { svg, notes: canvas.notes };
}
