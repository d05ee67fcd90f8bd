import {
  type GetTreasuryResponse,
  GetTreasuryResponseSchema,
  type PriceCeiling,
  PriceCeiling_OperationSchema,
  type Wallet,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import {
  curveOfNumber,
  signatureAlgorithmOfNumbers,
  unsupportedAlgorithmName,
} from "../../../protocol/algorithms.ts";
import { serviceCommand } from "../../connections/service-command.ts";
import { formatCoins, formatEnum, formatPairs, formatTable } from "../../output/format.ts";
import { TREASURY_SUBCOMMANDS } from "../../treasury/treasury-subcommands.ts";

/** The Treasury as the service sees it. The subcommands need only a fullnode. */
export const treasuryCommand = {
  ...serviceCommand({
    caller: "operator",
    isDirect: false,
    summary: "show the Treasury as the service sees it, the wallets, and the lanes with their gas",
    options: {},
    call: ({ admin }) => admin.getTreasury({}),
    reply: GetTreasuryResponseSchema,
    show: describe,
  }),
  subcommands: TREASURY_SUBCOMMANDS,
};

function describe({ treasury, hotWallet, gasStation, lanes }: GetTreasuryResponse): string {
  const head = formatPairs([
    ["treasury", treasury!.treasuryId],
    ["package", treasury!.packageId],
    ["paused", treasury!.paused ? "YES: every transaction aborts" : "no"],
    ["holds", `${formatCoins(treasury!.ikaBalance, "IKA")}, ${formatCoins(treasury!.suiBalanceMist, "SUI")}`],
    ["hot wallet", formatWallet(hotWallet)],
    ["gas station", formatWallet(gasStation)],
  ]);
  const ceilings = formatTable<PriceCeiling>(
    [
      { title: "OPERATION", of: ({ operation }) => formatEnum(PriceCeiling_OperationSchema, operation) },
      { title: "OF", of: formatAlgorithm },
      { title: "AT MOST", of: ({ maxIka }) => formatCoins(maxIka, "IKA"), align: "right" },
      { title: "AND", of: ({ maxSuiMist }) => formatCoins(maxSuiMist, "SUI"), align: "right" },
    ],
    treasury!.priceCeilings,
  );
  const table = formatTable(
    [
      { title: "LANE", of: ({ operatorCapId }) => operatorCapId },
      { title: "AUTHORISED", of: ({ authorised }) => (authorised ? "yes" : "NO") },
      { title: "DRIVEN", of: ({ leased }) => (leased ? "yes" : "no") },
      { title: "GAS", of: ({ gasBalanceMist }) => formatCoins(gasBalanceMist, "SUI"), align: "right" },
      { title: "COINS", of: ({ gasCoins }) => String(gasCoins.length), align: "right" },
      { title: "UNRESOLVED", of: ({ unresolvedTxDigest }) => unresolvedTxDigest ?? "-" },
      { title: "FOREIGN", of: ({ foreignTxDigest }) => foreignTxDigest ?? "-" },
    ],
    lanes,
  );
  return [head, ceilings, table].join("\n\n");
}

function formatWallet(wallet: Wallet | undefined): string | undefined {
  if (wallet === undefined) return undefined;
  const { address, suiBalanceMist, addressBalanceMist: outside } = wallet;
  const part = outside === 0n ? "" : `, of which ${formatCoins(outside, "SUI")} in the address balance`;
  return `${address}, ${formatCoins(suiBalanceMist, "SUI")}${part}`;
}

function formatAlgorithm({ curve, signatureAlgorithm }: PriceCeiling): string {
  const name = curveOfNumber(curve) ?? String(curve);
  if (signatureAlgorithm === undefined) return name;
  const known = signatureAlgorithmOfNumbers(curve, signatureAlgorithm);
  return `${name}/${known ?? unsupportedAlgorithmName(curve, signatureAlgorithm) ?? signatureAlgorithm}`;
}
