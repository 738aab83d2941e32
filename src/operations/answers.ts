/** What the service answers to each operation's examples, in their order: for OpenAPI; a test asks the running service and compares. */

export const ANSWERS: Readonly<Record<string, readonly object[]>> = {};
