/** Hints of one acquirer: either unconfirmed reports of callbacks, or all others. */
export interface Line {
  readonly acquirer: string;
  readonly isUnconfirmed: boolean;
}

/** A line, and how many of its hints may be claimed. */
export interface Ask extends Line {
  readonly room: number;
}

/**
 * How many hints a process queries at once. Unconfirmed reports have places of their own, so that no other hint waits
 * for them.
 */
const PLACES = { confirmed: 16, unconfirmed: 8 };
/** Largest share of its lane's places for one acquirer, so that another acquirer always finds a place. */
const SHARE = 0.75;

/**
 * Gives free places to lines with due hints. The line with the fewest running queries comes first; chance decides
 * between equals.
 * @param underWay the line of each hint that is being queried
 * @param roomOf how many more hints of a line may be queried, besides the running ones
 * @returns places by line; lines without a free place are left out
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
