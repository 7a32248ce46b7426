import { useState } from 'react';

/** What somebody typed into a field, without the blanks around it. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** As it was typed: blanks are part of it. */
export function passwordOf(form: FormData): string {
  const value = form.get('password');
  return typeof value === 'string' ? value : '';
}

type Fields<N extends string> = Readonly<Record<N, string>>;

interface Typed<N extends string> {
  readonly fields: Fields<N>;
  readonly set: (changes: Partial<Fields<N>>) => void;
  /** To be called when the dialog opens. */
  readonly begin: () => void;
  /** What the field's control shows and how it changes, as its attributes. */
  readonly field: (name: N) => {
    readonly value: string;
    readonly onChange: (event: { target: { value: string } }) => void;
  };
}

/** What is typed into the fields of a dialog. @param first what they begin with, as it is when the dialog opens */
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
