import { describe, expect, it } from "vitest";
import { MalformedBytesError } from "../../../src/protocol/bytes.ts";
import type { ChainNetworkEncryptionKey } from "../../../src/protocol/chain/chain-objects.ts";
import { ChunkField, ReconfigurationField } from "../../../src/protocol/chain/chain-structs.ts";
import {
  KeyOutputError,
  numberedEntryId,
  readKeyOutputs,
} from "../../../src/protocol/chain/coordinator-objects.ts";

const tableId = (name: string) => `0x${name.repeat(64)}`;
const EPOCHS = tableId("e");
const DKG = tableId("d");
const key = (chunkCount: bigint): ChainNetworkEncryptionKey => ({
  id: tableId("1"),
  dkgAtEpoch: 1n,
  networkDkgOutputTableId: DKG,
  networkDkgOutputChunkCount: chunkCount,
  reconfigurationOutputsTableId: EPOCHS,
  supportedCurveNumbers: [0],
  stateKind: "NetworkDKGCompleted",
});

/** A chain with a key's objects, and the number of objects that each call requested. */
function chainOf() {
  const objects = new Map<string, Uint8Array>();
  const asked: [string, number][] = [];
  return {
    objects,
    asked,
    chunks(table: string, ...values: string[]) {
      for (const [index, value] of values.entries()) {
        const id = numberedEntryId(table, index);
        const bytes = new TextEncoder().encode(value);
        objects.set(id, ChunkField.serialize({ id, name: index, value: bytes }).toBytes());
      }
    },
    reconfigured(epoch: bigint, ...values: string[]) {
      const id = numberedEntryId(EPOCHS, epoch);
      const output = { id: `0x${epoch.toString().padStart(64, "0")}`, size: values.length };
      objects.set(id, ReconfigurationField.serialize({ id, epoch, output }).toBytes());
      this.chunks(output.id, ...values);
    },
    async read(at: bigint, chunkCount = 2n): Promise<string[]> {
      const outputs = await readKeyOutputs(key(chunkCount), at, async (sort, ids) => {
        asked.push([sort, ids.length]);
        return new Map(ids.flatMap((id) => (objects.has(id) ? [[id, objects.get(id)!] as const] : [])));
      });
      return outputs.map((output) => new TextDecoder().decode(output));
    },
  };
}

describe("the outputs of a network key", () => {
  it("are only the DKG's if there was no reconfiguration", async () => {
    const chain = chainOf();
    chain.chunks(DKG, "d", "kg");
    expect(await chain.read(1n)).toEqual(["dkg"]);
  });

  it("are the current epoch's or the newest before it, and then the DKG's", async () => {
    const chain = chainOf();
    chain.chunks(DKG, "d", "kg");
    chain.reconfigured(3n, "th", "ree");
    chain.reconfigured(4n, "four");
    expect(await chain.read(4n)).toEqual(["four", "dkg"]);
    expect(await chain.read(3n)).toEqual(["three", "dkg"]);
    expect(await chain.read(11n)).toEqual(["four", "dkg"]);
    expect(await chain.read(12n)).toEqual(["dkg"]);
    expect(Math.max(...chain.asked.map(([, count]) => count))).toBe(8);
  });

  it("do not include the next epoch's, which may be incomplete", async () => {
    const chain = chainOf();
    chain.chunks(DKG, "d", "kg");
    chain.reconfigured(4n, "four");
    chain.reconfigured(5n, "fi");
    expect(await chain.read(4n)).toEqual(["four", "dkg"]);
  });

  it("are refused if a part is missing, too much is announced, or the layout is unknown", async () => {
    const chain = chainOf();
    chain.chunks(DKG, "d", "kg");
    await expect(chain.read(1n, 3n)).rejects.toThrow(KeyOutputError);
    await expect(chain.read(1n, 0n)).rejects.toThrow("has no output yet");
    chain.asked.length = 0;
    await expect(chain.read(1n, 2n ** 60n)).rejects.toThrow("too large");
    expect(chain.asked).toEqual([["reconfiguration", 2]]);
    chain.objects.set(numberedEntryId(EPOCHS, 1n), new Uint8Array(79));
    await expect(chain.read(1n)).rejects.toThrow(MalformedBytesError);
  });

  it("are read in calls of a bounded size, up to the maximum length of an output", async () => {
    const chain = chainOf();
    const chunk = "x".repeat(1024 * 1024);
    chain.chunks(DKG, ...Array.from({ length: 120 }, () => "x"));
    await chain.read(1n, 120n);
    expect(chain.asked.map(([, count]) => count)).toEqual([2, 50, 50, 20]);
    chain.chunks(DKG, chunk, chunk, chunk, chunk);
    await expect(chain.read(1n, 120n)).rejects.toThrow("too large");
  });
});
