/** Pieces of sentences that the frame rules of both languages are made of: patterns of named groups. */

/** A whole rule, whatever the case. */
export const all = (pattern: string): RegExp => new RegExp(pattern, 'iu');

/** Whom an English sentence speaks of. */
export const SUBJECT = '(?<s>[^,;:"]{1,60}?)';
/** The shortest text of at most so many characters that fits. */
export const part = (group: string, most: number): string => `(?<${group}>.{1,${most}}?)`;

/** Whom a Chinese sentence speaks of, where it says so; `but`: characters that a name has none of. */
export const hanSubject = (but = '', most = 24): string => `(?<s>[^,。;:、"${but}]{0,${most}}?)`;
/** Within one clause. */
export const hanPart = (group: string, most: number): string => `(?<${group}>[^,。;]{1,${most}}?)`;
/** That something holds by now, and other words (`more`) that may stand among these. */
export const hanNow = (more: string): string => `(?:现在|目前|已经|已|最近|刚刚?|如今|今年|${more})*`;
