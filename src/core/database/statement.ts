/** One SQL text with a name: the server parses and plans it once per connection instead of at every call. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** It may take any time: `statement_timeout` is off where it runs, and nobody gives up waiting for its answer. */
  readonly isUnhurried: boolean;
}

/** @param name unique in the whole project, at most 63 bytes (PostgreSQL's limit for names) */
export function statement(name: string, text: string, isUnhurried = false): Statement {
  return { name, text, isUnhurried };
}
