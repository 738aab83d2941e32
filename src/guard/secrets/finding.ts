/** What a detector of secrets and personal data reports, and which kinds there are; shared by everything under guard/secrets. */

/** What gives access: the value is dropped, whoever wrote it. */
export const CREDENTIAL_KINDS = ['private_key', 'jwt', 'connection_string', 'api_key', 'password', 'otp'] as const;
/** What belongs to a person: masked in every text, kept sealed. */
export const PERSONAL_KINDS = ['cn_id', 'national_id', 'bank_card', 'passport', 'phone', 'email', 'license_plate'] as const;
/** In order of gravity: where findings overlap, the first kind names the whole. */
export const SECRET_KINDS = [...CREDENTIAL_KINDS, ...PERSONAL_KINDS] as const;
export type SecretKind = (typeof SECRET_KINDS)[number];

export interface Finding {
  /** Offsets in UTF-16 code units; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  readonly kind: SecretKind;
  readonly detector: string;
}

/** One detector: reports what it finds in a text as it is read. Its work grows with the length of the text and no faster. */
export type Detector = (text: string) => Iterable<Finding>;

export function isCredential(kind: SecretKind): boolean {
  return (CREDENTIAL_KINDS as readonly string[]).includes(kind);
}
