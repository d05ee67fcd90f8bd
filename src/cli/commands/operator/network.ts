import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  DrainNetworkResponseSchema,
  GetNetworkWorkResponseSchema,
  type NetworkWork,
  ResumeNetworkResponseSchema,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { serviceCommand } from "../../connections/service-command.ts";

const OPERATOR = { caller: "operator", isDirect: false } as const;

const status = serviceCommand({
  ...OPERATOR,
  summary: "show whether a network takes new work, and the work under way",
  options: {},
  call: ({ admin }) => admin.getNetworkWork({}),
  reply: GetNetworkWorkResponseSchema,
  show: ({ work }) => showWork(work),
});

const drain = serviceCommand({
  ...OPERATOR,
  summary: "close a network to new work on every replica; work under way continues",
  options: {},
  call: ({ admin }) => admin.drainNetwork({}),
  reply: DrainNetworkResponseSchema,
  show: ({ work }) => showWork(work),
});

const resume = serviceCommand({
  ...OPERATOR,
  summary: "open a network to new work again",
  options: {},
  call: ({ admin }) => admin.resumeNetwork({}),
  reply: ResumeNetworkResponseSchema,
  show: ({ work }) => showWork(work),
});

export const networkCommands = { status, drain, resume };

function showWork(work: NetworkWork | undefined): string {
  if (work === undefined) return "the service returned no status of the network";
  const since = work.drainTime && timestampDate(work.drainTime).toISOString();
  const under = [
    [work.openReservations, "open reservations"],
    [work.openSignatures, "signatures"],
    [work.openDwallets, "dWallets"],
    [work.openPresigns, "presigns"],
    [work.openOperations, "queued operations"],
    [work.unresolvedTransactions, "transactions without a known outcome"],
    [work.waitingDeposits, "deposits that wait for their credit"],
    [work.leavingDwallets, "dWallets that leave after their last signatures"],
    [work.coinsToSweep, "coins to sweep"],
  ] as const;
  const waiting = [
    [work.unacceptedDwallets, "dWallets that their owners have not accepted"],
    [work.coinsLeft, "credited coins below the minimum of a sweep, or without a destination"],
  ] as const;
  const open = shown(under);
  const left = shown(waiting);
  return [
    since === undefined
      ? `${work.network} takes new work`
      : `${work.network} has taken no new work since ${since}`,
    ...(open.length === 0 ? ["nothing is under way"] : ["under way:", ...open]),
    ...(left.length === 0 ? [] : ["left, and no obstacle to a removal:", ...left]),
    ...(since !== undefined && work.idle ? [`${work.network} can be removed from NETWORKS`] : []),
  ].join("\n");
}

function shown(counts: readonly (readonly [count: number, what: string])[]): string[] {
  return counts.filter(([count]) => count > 0).map(([count, what]) => `  ${count} ${what}`);
}
