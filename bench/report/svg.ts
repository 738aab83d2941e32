/** Small charts as SVG text, for reports that open anywhere: horizontal bars with intervals, and lines over a linear or logarithmic axis. Pure. */

const COLOURS = ['#0b6e99', '#d9730d', '#4d8f3c', '#9b4f96', '#b03a2e', '#5f6b6d'];
const FONT = 'font-family="system-ui, sans-serif"';
const FONT_SIZE = 12;
const INK = '#222222';
const GRID = '#dddddd';
const WIDTH = 860;

export interface Bar {
  /** NaN leaves the bar out. */
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

export interface BarChart {
  readonly title: string;
  readonly series: readonly string[];
  /** One bar a series, in their order. */
  readonly rows: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
  /** End of the axis; the largest value by default. */
  readonly max?: number;
  readonly format?: (value: number) => string;
}

export interface LineChart {
  readonly title: string;
  readonly x: string;
  readonly y: string;
  readonly logX?: boolean;
  readonly series: readonly {
    readonly name: string;
    readonly points: readonly (readonly [x: number, y: number])[];
    readonly dashed?: boolean;
    /** Which colour; series of one colour belong together. Its place by default. */
    readonly colour?: number;
  }[];
  /** A horizontal line, e.g. a target. */
  readonly mark?: { readonly value: number; readonly label: string };
}

/** Text as XML content or attribute. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

const text = (x: number, y: number, content: string, more = '', size = FONT_SIZE): string =>
  `<text x="${round(x)}" y="${round(y)}" ${FONT} font-size="${size}" fill="${INK}"${more === '' ? '' : ` ${more}`}>${escapeXml(content)}</text>`;
const line = (x1: number, y1: number, x2: number, y2: number, stroke: string, more = ''): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}" ${more}/>`;
const round = (value: number): number => Math.round(value * 10) / 10;
const colourOf = (index: number): string => COLOURS[index % COLOURS.length] ?? INK;

function frame(title: string, height: number, parts: readonly string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeXml(title)}">`;
  const ground = `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`;
  return [head, ground, text(16, 24, title, 'font-weight="bold"'), ...parts, '</svg>'].join('\n');
}

function legend(names: readonly string[], y: number, colours: readonly number[], dashed: readonly boolean[] = []): string[] {
  let x = 16;
  return names.flatMap((name, i) => {
    const at = x;
    x += 38 + name.length * 6.5;
    const style = `stroke-width="4"${dashed[i] === true ? ' stroke-dasharray="4 3"' : ''}`;
    return [line(at, y - 4, at + 18, y - 4, colourOf(colours[i] ?? i), style), text(at + 24, y, name)];
  });
}

/** Groups of horizontal bars, one group a row. */
export function barChart({ title, series, rows, max, format = (v) => v.toFixed(3) }: BarChart): string {
  const left = 24 + 7 * Math.max(10, ...rows.map((row) => row.label.length));
  const right = WIDTH - 130;
  const values = rows.flatMap((row) => row.bars.flatMap((bar) => [bar.value, bar.high ?? bar.value])).filter(Number.isFinite);
  const end = max ?? Math.max(1e-9, ...values);
  const at = (value: number): number => left + ((right - left) * Math.min(end, Math.max(0, value))) / end;
  const [top, barHeight, gap] = [60, 12, 10];
  const rowHeight = series.length * barHeight + gap;
  const bottom = top + rows.length * rowHeight;
  const parts = legend(
    series,
    44,
    series.map((_, i) => i),
  );
  for (const tick of ticks(end)) {
    parts.push(line(at(tick), top, at(tick), bottom, GRID), text(at(tick), bottom + 16, format(tick), 'text-anchor="middle"'));
  }
  for (const [r, row] of rows.entries()) {
    const y = top + r * rowHeight + gap / 2;
    parts.push(text(left - 8, y + (rowHeight - gap) / 2 + 4, row.label, 'text-anchor="end"'));
    for (const [i, bar] of row.bars.entries()) {
      if (!Number.isFinite(bar.value)) continue;
      const [barY, { low, high }] = [y + i * barHeight, bar];
      const width = Math.max(0, at(bar.value) - left);
      parts.push(`<rect x="${round(left)}" y="${round(barY)}" width="${round(width)}" height="${barHeight - 2}" fill="${colourOf(i)}"/>`);
      if (low !== undefined && high !== undefined) parts.push(line(at(low), barY + 5, at(high), barY + 5, INK, 'stroke-width="1.5"'));
      parts.push(text(Math.max(at(bar.value), at(high ?? 0)) + 6, barY + 10, format(bar.value), '', FONT_SIZE - 1));
    }
  }
  return frame(title, bottom + 28, parts);
}

/** Lines with points; a series without points is left out. */
export function lineChart({ title, x, y, logX = false, series, mark }: LineChart): string {
  const drawn = series.filter((one) => one.points.length > 0);
  const [left, right, top, bottom] = [70, WIDTH - 30, 70, 340];
  const xs = drawn.flatMap((one) => one.points.map((point) => point[0]));
  const ys = drawn.flatMap((one) => one.points.map((point) => point[1]));
  const scale = (value: number): number => (logX ? Math.log10(Math.max(1e-9, value)) : value);
  const [from, to] = xs.length === 0 ? [0, 1] : [scale(Math.min(...xs)), scale(Math.max(...xs))];
  const end = Math.max(1e-9, ...ys, mark?.value ?? 0) * 1.05;
  const atX = (value: number): number => (to === from ? (left + right) / 2 : left + ((right - left) * (scale(value) - from)) / (to - from));
  const atY = (value: number): number => bottom - ((bottom - top) * value) / end;
  const colours = drawn.map((one, i) => one.colour ?? i);
  const parts = legend(
    drawn.map((one) => one.name),
    46,
    colours,
    drawn.map((one) => one.dashed === true),
  );
  for (const tick of ticks(end)) {
    parts.push(line(left, atY(tick), right, atY(tick), GRID), text(left - 8, atY(tick) + 4, short(tick), 'text-anchor="end"'));
  }
  for (const value of [...new Set(xs)]) parts.push(text(atX(value), bottom + 18, short(value), 'text-anchor="middle"'));
  parts.push(text((left + right) / 2, bottom + 38, x, 'text-anchor="middle"'), text(left - 54, top - 10, y));
  if (mark !== undefined) {
    parts.push(line(left, atY(mark.value), right, atY(mark.value), '#b03a2e', 'stroke-dasharray="6 4"'));
    parts.push(text(right, atY(mark.value) - 5, mark.label, 'text-anchor="end"'));
  }
  for (const [i, one] of drawn.entries()) {
    const points = one.points.map((point) => [round(atX(point[0])), round(atY(point[1]))] as const);
    const stroke = colourOf(colours[i] ?? i);
    const path = points.map(([px, py]) => `${px},${py}`).join(' ');
    parts.push(
      `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="2"${one.dashed === true ? ' stroke-dasharray="6 4"' : ''}/>`,
    );
    for (const [px, py] of points) parts.push(`<circle cx="${px}" cy="${py}" r="3" fill="${stroke}"/>`);
  }
  return frame(title, bottom + 52, parts);
}

/** Four to eight round numbers from 0 to `end`. */
export function ticks(end: number): number[] {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, i) => Math.round(i * step * 1e9) / 1e9);
}

function short(value: number): string {
  if (value >= 1e6) return `${round(value / 1e6)}M`;
  return value >= 10_000 ? `${round(value / 1e3)}k` : String(Math.round(value * 1e3) / 1e3);
}
