import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import type { Language, Translate } from './format.js';

export type { Translate };

interface Spoken {
  readonly language: Language;
  readonly t: Translate;
  readonly setLanguage: (language: Language) => void;
}

const KEY = 'recebe.language';
const Context = createContext<Spoken | null>(null);

function preferred(): Language {
  const kept = localStorage.getItem(KEY);
  if (kept === 'pt-BR' || kept === 'en') return kept;
  return navigator.language.toLowerCase().startsWith('pt') ? 'pt-BR' : 'en';
}

export function Languages({ children }: { children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(preferred);
  useEffect(() => {
    document.documentElement.lang = language;
    localStorage.setItem(KEY, language);
  }, [language]);
  const spoken = useMemo<Spoken>(
    () => ({ language, setLanguage, t: (portuguese, english) => (language === 'en' ? english : portuguese) }),
    [language],
  );
  return <Context value={spoken}>{children}</Context>;
}

export function useLanguage(): Spoken {
  const spoken = use(Context);
  if (!spoken) throw new Error('Outside of <Languages>');
  return spoken;
}
