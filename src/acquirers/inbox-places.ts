/** Hints of one acquirer: those that only callbacks have told, or all others. */
export interface Line {
  readonly acquirer: string;
  readonly isUnconfirmed: boolean;
}

/** A line, and how many of its hints may be claimed. */
export interface Ask extends Line {
  readonly room: number;
}

/** How many hints a process asks about at once. Unconfirmed reports have places of their own: nothing else waits for them. */
const PLACES = { confirmed: 16, unconfirmed: 8 };
/** How many of its lane's places one acquirer may have: another one always finds a place. */
const SHARE = 0.75;

/**
 * Gives free places to lines that have hints due. The line with the fewest under way comes first; chance decides between
 * equals.
 * @param underWay the line of each hint that is asked about now
 * @param roomOf how many more hints of a line may be asked about, besides those that are
 * @returns lines without a free place are left out
 */
export function allot(
  due: readonly Line[],
  underWay: readonly Line[],
  roomOf: (line: Line, underWay: number) => number,
): Ask[] {
  const lanes = [
    { isUnconfirmed: false, places: PLACES.confirmed },
    { isUnconfirmed: true, places: PLACES.unconfirmed },
  ];
  return lanes.flatMap(({ isUnconfirmed, places }) => {
    const busy = underWay.filter((line) => line.isUnconfirmed === isUnconfirmed);
    const turns = due
      .filter((line) => line.isUnconfirmed === isUnconfirmed)
      .map((line) => {
        const has = busy.filter(({ acquirer }) => acquirer === line.acquirer).length;
        return { line, has, most: Math.min(places * SHARE, has + roomOf(line, has)), room: 0, chance: Math.random() };
      });
    for (let left = places - busy.length; left > 0; left -= 1) {
      const next = turns
        .filter(({ has, most }) => has < most)
        .sort((one, other) => one.has - other.has || one.chance - other.chance)[0];
      if (!next) break;
      next.has += 1;
      next.room += 1;
    }
    return turns.flatMap(({ line, room }) => (room > 0 ? { ...line, room } : []));
  });
}
