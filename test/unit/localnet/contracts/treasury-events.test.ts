/** Compares the events of the localnet's Treasury with those of the Move package. */
import path from "node:path";
import { expect, it } from "vitest";
import { TREASURY_EVENTS } from "../../../../src/localnet/contracts/treasury/treasury-events.ts";
import { readMoveFiles } from "../../../../tools/move/move-files.ts";
import { ROOT } from "../../../support/repository/source-files.ts";

/** The minimum number of bytes of a value of a Move type. */
const WIDTHS: Readonly<Record<string, number>> = {
  ID: 32,
  address: 32,
  u64: 8,
  u32: 4,
  u8: 1,
  bool: 1,
  "vector<u8>": 1,
  Amounts: 5 * 8,
};

/** The structs that Move emits, by module and name, with their fields in order. */
const EMITTED = new Map(
  Object.entries(readMoveFiles(path.join(ROOT, "move/treasury")))
    .filter(([file]) => file.startsWith("sources/"))
    .flatMap(([file, source]) =>
      [...source.matchAll(/public struct (\w+) has copy, drop \{([^}]*)\}/g)]
        .filter(([, name]) => source.includes(`event::emit(${name} {`))
        .map(([, name, body]): [string, [field: string, type: string][]] => [
          `${path.basename(file, ".move")}::${name}`,
          [...body!.replaceAll(/\/\/.*/g, "").matchAll(/(\w+): ([\w<>]+)/g)].map(([, field, type]) => [
            field!,
            type!,
          ]),
        ]),
    ),
);

it("The localnet's Treasury emits the events of the Move package, and no others", () => {
  expect(Object.keys(TREASURY_EVENTS).sort()).toEqual([...EMITTED.keys()].sort());
});

it.each(Object.entries(TREASURY_EVENTS))(
  "%s has the fields of Move's struct, in the same order",
  (name, codec) => {
    const fields = EMITTED.get(name)!;
    const size = fields.reduce((sum, [, type]) => sum + WIDTHS[type]!, 0);
    const parsed = codec.parse(new Uint8Array(size));
    expect(Object.keys(parsed)).toEqual(fields.map(([field]) => field));
    expect(codec.serialize(parsed as never).toBytes()).toHaveLength(size);
  },
);
