/** Phones of other countries by libphonenumber's metadata; asked only where a plus or a word says that a number is a phone. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** Words for phones, within reach before the number. */
export const PHONE_WORDS =
  /电话|電話|手机|手機|座机|固话|传真|热线|联系|聯絡|致电|拨打|微信|短信|(?<![a-z])(?:phones?|tel(?:ephone|efon)?|mobile|cell|call|text|sms|whats ?app|signal|fax|reach|dial|contact|ring|handy|móvil|portable)(?![a-z])/i;

/** Countries whose national form is tried where the number has no country code. */
const HOME_COUNTRIES = ['US', 'GB', 'DE', 'FR', 'JP', 'HK', 'TW', 'AU', 'IN', 'CN'] as const;

/** Digits with country code. Numbers kept for fiction have a possible length and count. */
export function internationalPhone(digits: string): boolean {
  return parsePhoneNumberFromString(`+${digits}`)?.isPossible() === true;
}

/** Digits in the form of one of the home countries, trunk prefix and all. */
export function nationalPhone(digits: string): boolean {
  return HOME_COUNTRIES.some((country) => parsePhoneNumberFromString(digits, country)?.isValid() === true);
}
