// A rule of ESLint: a comment begins with its subject, and its sentences are short. `docs/development.md` says why.

const MAX_WORDS = 25;

/** First words that leave a reader without a subject, each with the better form. */
const BETTER = [
  [/^Of\b/, 'put the subject first: "If the return failed …", not "Of one that failed …"'],
  [/^(?:What|Who|Whose|Whoever|Whatever|Whom|Which)\b/, 'begin with the noun: "The stored row", not "What is kept"'],
  [
    /^(?:Those|That|It|Its|They|Their|He|She|His|None|One|Ones|Another|Others|The (?:same|other|others|rest))\b(?!-)/,
    'repeat the noun: "Charges that were not paid", not "Those that were not"',
  ],
  [/^(?:And|But|Or|Nor|Also|Then|Than)\b/, 'begin a sentence of its own, with its subject'],
  [
    /^(?:So (?:long|many|much|far)|By now|Until then|Each of|All that|As (?:long|many|much))\b/,
    'name the quantity or the time: "for 5 s"',
  ],
];

function textOf(comment) {
  return comment.value
    .replace(/^\*/, '')
    .replace(/\n\s*\* ?/g, '\n')
    .trim();
}

/** Returns comments, each run of line comments as one. */
function whole(comments) {
  const found = [];
  for (const comment of comments) {
    const last = found.at(-1);
    const isNext = last?.type === 'Line' && comment.type === 'Line' && comment.loc.start.line === last.end + 1;
    if (isNext) {
      last.text += ` ${textOf(comment)}`;
      last.end = comment.loc.end.line;
    } else found.push({ type: comment.type, loc: comment.loc, end: comment.loc.end.line, text: textOf(comment) });
  }
  return found;
}

function problemsOf(text) {
  if (/^(?:eslint|@ts-|prettier|@internal|istanbul|#__)/.test(text)) return [];
  const prose = text
    .split(/\n\s*@/)[0]
    // An item of a list is a sentence.
    .replace(/\n\s*(?:-|\d+\.) /g, '. X ')
    .replace(/`[^`]*`/g, 'x')
    .replace(/\s+/g, ' ');
  return prose.split(/(?<=[.!?])\s+(?=[A-Z@`])/).flatMap((sentence) => {
    const words = sentence.split(' ').length;
    const better = BETTER.find(([first]) => first.test(sentence));
    return [
      ...(better ? [`"${sentence.split(' ', 1)[0]}": ${better[1]}`] : []),
      ...(words > MAX_WORDS ? [`${words} words in a sentence: at most ${MAX_WORDS}`] : []),
    ];
  });
}

export default {
  meta: { type: 'suggestion', schema: [] },
  create: (context) => ({
    Program() {
      for (const { loc, text } of whole(context.sourceCode.getAllComments())) {
        for (const message of problemsOf(text)) context.report({ loc, message });
      }
    },
  }),
};
