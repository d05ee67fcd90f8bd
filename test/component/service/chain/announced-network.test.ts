import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import {
  announceNetwork,
  awaitAnnouncedNetwork,
  readAnnouncedNetwork,
} from "../../../../src/service/chain/fullnodes/announced-network.ts";
import type { Clock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { silentLog } from "../../../support/silent-log.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => database.query("DELETE FROM known_network"));

const ANNOUNCED = { senderAddress: "0x1", gasOwnerAddress: "0x2", takesDeposits: false };
const know = (name: string) =>
  database.query("INSERT INTO known_network (name, chain_id) VALUES ($1, 'chain')", [name]);

it("an announcement reaches the processes of its network and no other, and the last one counts", async () => {
  await know("testnet");
  await know("mainnet");
  await announceNetwork(database, "testnet", ANNOUNCED);
  expect(await readAnnouncedNetwork(database, "testnet")).toEqual(ANNOUNCED);
  await expect(readAnnouncedNetwork(database, "mainnet")).rejects.toThrow(/PROCESS_TYPE worker or all/);
  await announceNetwork(database, "testnet", { ...ANNOUNCED, senderAddress: "0x3", takesDeposits: true });
  expect(await readAnnouncedNetwork(database, "testnet")).toMatchObject({
    senderAddress: "0x3",
    takesDeposits: true,
  });
  await expect(announceNetwork(database, "localnet", ANNOUNCED)).rejects.toThrow(/does not know the chain/);
});

it("a process that starts before the one with the keys waits for it, and gives up after a minute", async () => {
  await know("testnet");
  let waitedMs = 0;
  let onPause = async (): Promise<unknown> => undefined;
  const clock: Clock = {
    now: () => waitedMs,
    wallMs: () => waitedMs,
    after(durationMs, call) {
      waitedMs += durationMs;
      void onPause().then(call);
      return () => {};
    },
  };
  const options = { clock, log: silentLog };
  await expect(awaitAnnouncedNetwork(database, "testnet", options)).rejects.toThrow(
    /no process with the keys/,
  );
  expect(waitedMs).toBe(60_000);
  onPause = () => announceNetwork(database, "testnet", ANNOUNCED);
  expect(await awaitAnnouncedNetwork(database, "testnet", options)).toEqual(ANNOUNCED);
});
