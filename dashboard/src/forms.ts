import { useState } from 'react';

/** The text of a field without surrounding blanks. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** The password as typed: blanks are part of it. */
export function passwordOf(form: FormData): string {
  const value = form.get('password');
  return typeof value === 'string' ? value : '';
}

type Fields<N extends string> = Readonly<Record<N, string>>;

export interface Typed<N extends string> {
  readonly fields: Fields<N>;
  readonly set: (changes: Partial<Fields<N>>) => void;
  /** Resets the fields; called when the dialog opens. */
  readonly begin: () => void;
  /** The value and change handler of a field, as attributes of its control. */
  readonly field: (name: N) => {
    readonly value: string;
    readonly onChange: (event: { target: { value: string } }) => void;
  };
}

/** State of the fields of a dialog. @param first initial values, read when the dialog opens */
export function useFields<N extends string>(first: Fields<N>): Typed<N> {
  const [fields, setFields] = useState(first);
  const set = (changes: Partial<Fields<N>>): void => setFields((all) => ({ ...all, ...changes }));
  return {
    fields,
    set,
    begin: () => setFields(first),
    field: (name) => ({
      value: fields[name],
      onChange: ({ target }) => set({ [name]: target.value } as Fields<N>),
    }),
  };
}
