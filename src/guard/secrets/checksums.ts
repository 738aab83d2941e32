/** Check digits: Luhn, the resident identity number of China, Hong Kong's and Taiwan's, IBAN, and the CRC in GitHub's and npm's tokens. */
import { crc32 } from 'node:zlib';

/** ISO/IEC 7812: the check digit of card numbers. */
export function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = (digits.charCodeAt(digits.length - 1 - i) - 48) * (i % 2 === 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return sum % 10 === 0;
}

/** Issuers' ranges (ISO/IEC 7812-1): UnionPay, Visa, Mastercard, American Express, JCB, Discover, Maestro, Mir; with the lengths they use. */
const CARD =
  /^(?:62\d{14,17}|60\d{14,17}|9[0-9]\d{14,17}|4\d{15}|4\d{18}|4\d{12}|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|35(?:2[89]|[3-8]\d)\d{12}|6(?:011|4[4-9]\d|5\d\d)\d{12}|(?:50|5[6-8]|6[37])\d{14,17}|3(?:0[0-5]|[68]\d)\d{11}|220[0-4]\d{12})$/;

/** A number that an issuer can have given: range, length and check digit. */
export function isCardNumber(digits: string): boolean {
  return CARD.test(digits) && isLuhn(digits);
}

/** GB/T 2260: first two digits of the areas of China, with Taiwan, Hong Kong and Macao. */
const PROVINCES = new Set(
  ['11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83'].join(' ').split(' '),
);
const ID_WEIGHTS = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
const ID_CHECKS = '10X98765432';

/** Area and date of birth of an 18-digit identity number, without its check digit. */
export function isResidentBody(id: string): boolean {
  return PROVINCES.has(id.slice(0, 2)) && id.slice(2, 6) !== '0000' && isDate(id.slice(6, 10), id.slice(10, 12), id.slice(12, 14));
}

/** GB 11643-1999: area, date of birth, sequence, check digit (ISO 7064 mod 11-2). */
export function isResidentId(id: string): boolean {
  if (!isResidentBody(id)) return false;
  let sum = 0;
  for (let i = 0; i < 17; i++) sum += (id.charCodeAt(i) - 48) * (ID_WEIGHTS[i] ?? 0);
  return ID_CHECKS.charAt(sum % 11) === id.charAt(17).toUpperCase();
}

/** The form in use until 1999: 15 digits, two of the year, no check digit. */
export function isOldResidentId(id: string): boolean {
  return PROVINCES.has(id.slice(0, 2)) && isDate(`19${id.slice(6, 8)}`, id.slice(8, 10), id.slice(10, 12));
}

function isDate(year: string, month: string, day: string): boolean {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (y < 1900 || y > 2099 || m < 1 || m > 12 || d < 1) return false;
  const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
  return d <= ([31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m - 1] ?? 0);
}

/** Hong Kong: one or two letters, six digits, check digit (0-9 or A). */
export function isHongKongId(letters: string, digits: string, check: string): boolean {
  const values = [...letters.padStart(2, ' ')].map((c) => (c === ' ' ? 36 : c.charCodeAt(0) - 55)).concat([...digits].map(Number));
  const sum = values.reduce((total, value, i) => total + value * (9 - i), 0) + (check === 'A' ? 10 : Number(check));
  return sum % 11 === 0;
}

const TAIWAN_LETTERS = 'ABCDEFGHJKLMNPQRSTUVXYWZIO';

/** Taiwan: a letter and nine digits, the last a check digit. */
export function isTaiwanId(id: string): boolean {
  const first = TAIWAN_LETTERS.indexOf(id.charAt(0)) + 10;
  if (first < 10 || !/^[A-Z][12]\d{8}$/.test(id)) return false;
  const digits = [Math.floor(first / 10), first % 10, ...[...id.slice(1)].map(Number)];
  const weights = [1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1];
  return digits.reduce((total, digit, i) => total + digit * (weights[i] ?? 0), 0) % 10 === 0;
}

/** ISO 13616: mod 97 over the rearranged letters and digits. */
export function isIban(iban: string): boolean {
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The last six base62 digits are the CRC-32 of the rest (GitHub's engineering blog, 2021; npm alike). */
export function endsInCrc(body: string): boolean {
  const value = [...body.slice(-6)].reduce((sum, digit) => sum * 62 + BASE62.indexOf(digit), 0);
  return value === crc32(body.slice(0, -6));
}
