/** What the HTTP front end needs to know about its surroundings; compose fills it from the configuration. */

export interface HttpConfig {
  /** Host header values that are answered: `name` with any port, or `name:port`; IPv6 in brackets. */
  readonly hosts: readonly string[];
  /** Origins of web pages that may call, as browsers send them; our own origin needs no entry. */
  readonly origins: readonly string[];
  /** Absolute URL under which callers reach this service, without a closing slash. */
  readonly publicUrl: string;
  /** RFC 9728 metadata; undefined = not published, so that clients keep to their configured token. */
  readonly prm: { readonly authorizationServers: readonly string[] } | undefined;
  readonly version: string;
}
