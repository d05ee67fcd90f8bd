import { randomBytes } from "node:crypto";
import { GrpcTypes, GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { createCheckpointReader } from "../../src/service/chain/checkpoint-reader.ts";
import { createBackOffs } from "../../src/service/chain/fullnodes/back-off.ts";
import { boundMessages } from "../../src/service/chain/fullnodes/bound-messages.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";

/** Prints the cost of a public network's stream for this process: octets and processor time per checkpoint. */
export async function measurePublicCheckpoints(coinTypes: readonly string[]): Promise<void> {
  const { transactions, changesEach } = PUBLIC_CHECKPOINT;
  const change = () => ({
    address: `0x${randomBytes(32).toString("hex")}`,
    coinType: coinTypes[0]!,
    amount: "123456789",
  });
  const frames = Array.from({ length: PUBLIC_CHECKPOINTS }, (_, index) => {
    const message = GrpcTypes.SubscribeCheckpointsResponse.toBinary({
      cursor: BigInt(index),
      checkpoint: {
        sequenceNumber: BigInt(index),
        transactions: Array.from({ length: transactions }, () => ({
          signatures: [],
          balanceChanges: Array.from({ length: changesEach }, change),
        })),
      },
    });
    const header = Buffer.alloc(5);
    header.writeUInt32BE(message.length, 1);
    return Buffer.concat([header, message]);
  });
  const answer = async () =>
    new Response(Buffer.concat(frames), { headers: { "content-type": "application/grpc-web+proto" } });
  const transport = new GrpcWebFetchTransport({
    baseUrl: "http://node.example",
    format: "binary",
    fetch: boundMessages(answer),
  });
  const reader = createCheckpointReader(
    {
      client: new SuiGrpcClient({ network: "localnet", transport }),
      backOff: createBackOffs(systemClock).work,
      clock: systemClock,
      times: { readMs: 10_000, buildMs: 10_000, executeMs: 10_000 },
    },
    coinTypes,
  );
  const began = process.cpuUsage();
  let count = 0;
  for await (const _ of reader.subscribe(new AbortController().signal, () => {}))
    if (++count === PUBLIC_CHECKPOINTS) break;
  const { user, system } = process.cpuUsage(began);
  const bytes = frames.reduce((sum, { length }) => sum + length, 0);
  console.log(
    `\nA checkpoint of ${transactions} transactions with ${changesEach} balance changes each: ` +
      `${(bytes / PUBLIC_CHECKPOINTS / 1_000).toFixed(1)} kB, ` +
      `${((user + system) / 1_000 / PUBLIC_CHECKPOINTS).toFixed(2)} ms of processor time to read`,
  );
}

const PUBLIC_CHECKPOINTS = 200;
const PUBLIC_CHECKPOINT = { transactions: 50, changesEach: 3 };
