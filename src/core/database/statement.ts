/** One SQL text with a name: the server parses and plans it once per connection instead of at every call. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** @param name unique in the whole project, at most 63 bytes (PostgreSQL's limit for names) */
export function statement(name: string, text: string): Statement {
  return { name, text };
}
