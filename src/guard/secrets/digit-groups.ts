/** Numbers as people write them: digits in groups with spaces, dashes, dots and brackets between; what the number detectors choose from. */

export interface DigitGroup {
  readonly start: number;
  readonly end: number;
  readonly digits: string;
}

/** Digits that belong together: neighbouring groups, each with its separator before. */
export interface Candidate {
  readonly start: number;
  readonly end: number;
  /** Without separators; an X at the end stays. */
  readonly digits: string;
  readonly groups: readonly DigitGroup[];
}

const RUN = /\d(?:[ \u00a0\u3000\t\-‐‑–—.·•()（）/]{0,2}\d){5,}(?:[ -]?[Xx](?![A-Za-z0-9]))?/g;
const GROUP = /\d+[Xx]?|[Xx]/g;
/** A number joined to the next one like this goes on: 2026-13800138000 is no phone. */
const JOINT = /^[-‐‑–—./]$/;
const MAX_DIGITS = 19;
const MIN_DIGITS = 7;

/** Runs of digits, with the groups they are written in. */
export function* digitRuns(text: string): Iterable<readonly DigitGroup[]> {
  for (const run of text.matchAll(RUN)) {
    const groups: DigitGroup[] = [];
    for (const group of run[0].matchAll(GROUP)) {
      const start = run.index + group.index;
      groups.push({ start, end: start + group[0].length, digits: group[0] });
    }
    yield groups;
  }
}

/**
 * Tries sequences of neighbouring groups with 7 to 19 digits, the longest first from each group; behind one that is accepted the search
 * goes on. `worth` looks at the digits and where they begin, which spares most of the work.
 */
export function choose(
  text: string,
  groups: readonly DigitGroup[],
  worth: (digits: string, groups: number, first: DigitGroup) => boolean,
  accept: (candidate: Candidate) => boolean,
): void {
  for (let from = 0; from < groups.length; from++) {
    let digits = '';
    let to = from;
    for (; to < groups.length; to++) {
      const next = groups[to]?.digits ?? '';
      if (digits.length + next.length > MAX_DIGITS) break;
      digits += next;
    }
    for (to -= 1; to >= from && digits.length >= MIN_DIGITS; to--) {
      const [first, last] = [groups[from] as DigitGroup, groups[to] as DigitGroup];
      if (worth(digits, to - from + 1, first) && !isJoined(text, groups, from, to)) {
        const candidate = { start: first.start, end: last.end, digits, groups: groups.slice(from, to + 1) };
        if (accept(candidate)) {
          from = to;
          break;
        }
      }
      digits = digits.slice(0, digits.length - last.digits.length);
    }
  }
}

/** The neighbours outside the candidate are glued to it by a dash, dot or slash. */
function isJoined(text: string, groups: readonly DigitGroup[], from: number, to: number): boolean {
  const [first, last] = [groups[from] as DigitGroup, groups[to] as DigitGroup];
  const before = groups[from - 1];
  const after = groups[to + 1];
  return (
    (before !== undefined && JOINT.test(text.slice(before.end, first.start))) ||
    (after !== undefined && JOINT.test(text.slice(last.end, after.start)))
  );
}
