import { CURVE_ALGORITHMS, CURVES, curveNumber } from "../../../protocol/algorithms.ts";
import {
  hasAlgorithm,
  type OperationPrice,
  PRICED_OPERATIONS,
  readPrices,
} from "../../../service/chain/treasury/read-prices.ts";
import { UsageError } from "../../command-line/command.ts";
import { count, defaulted, optional, WrongValue } from "../../command-line/option.ts";
import { changeCommand } from "../../treasury/change-command.ts";
import { coins } from "../../treasury/change-options.ts";
import { nameOperation } from "../../treasury/parameter-kinds.ts";
import { findOperation, formatCeilings, proposeCeilings, suffices } from "../../treasury/price-ceilings.ts";

/** The option for the margin of proposed ceilings, in percent. */
export const MARGIN_OPTION = defaulted(
  "<percent>",
  "the margin of a proposed ceiling above Ika's current price",
  count(0, 10_000),
  "25",
);

export const setCeilingCommand = changeCommand({
  summary: "set the most that an operation may cost; proposed from Ika's current prices",
  details:
    "Without --of it sets every operation that the service uses. A ceiling below the price stops the operation.",
  options: {
    of: optional(
      "<operation>",
      "one operation, such as dkg:ED25519 or sign:SECP256K1/Taproot",
      operationName,
    ),
    ika: optional("<ika>", "with --of: the ceiling in IKA", coins),
    sui: optional("<sui>", "with --of: the ceiling in SUI", coins),
    margin: MARGIN_OPTION,
  },
  async plan({ of, ika, sui, margin }, treasury, { print, note }) {
    if (of === undefined && (ika !== undefined || sui !== undefined))
      throw new UsageError("--ika and --sui need --of");
    const { prices } = await readPrices(
      treasury.client,
      treasury.ikaConfig.objects.ikaDWalletCoordinator.objectID,
    );
    const proposed = proposeCeilings(prices, margin);
    const chosen = of === undefined ? proposed : [chooseOne(of)];
    print(`${formatCeilings(chosen)}\n`);
    for (const ceiling of chosen)
      if (ceiling.price !== undefined && !suffices(ceiling, ceiling.price))
        note(`warning: ${nameOperation(ceiling)} costs more than this ceiling; the service cannot run it`);
    return {
      caller: "admin",
      add(call) {
        for (const ceiling of chosen) call(...setCeiling(ceiling));
      },
    };

    function chooseOne(wanted: OperationId) {
      const found = findOperation(proposed, wanted);
      const price = findOperation(prices, wanted);
      const [asIka, asSui] = [ika ?? found?.ika, sui ?? found?.sui];
      if (asIka === undefined || asSui === undefined)
        throw new Error(`Ika has no price for ${nameOperation(wanted)}: set both --ika and --sui`);
      return { ...wanted, ika: asIka, sui: asSui, price };
    }
  },
});

type OperationId = Pick<OperationPrice, "operation" | "curve" | "signatureAlgorithm">;

export function setCeiling({ operation, curve, signatureAlgorithm, ika, sui }: OperationPrice) {
  const number = PRICED_OPERATIONS.indexOf(operation);
  return ["set_ceiling", { operation: number, curve, algorithm: signatureAlgorithm, ika, sui }] as const;
}

/**
 * Parses `dkg:CURVE`, `share:CURVE` or `import:CURVE`, or `presign`, `sign`, `future_sign` or `partial_sign` with
 * `:CURVE/ALGORITHM`.
 */
function operationName(text: string): OperationId {
  const [name, of = ""] = text.split(":");
  const operation = PRICED_OPERATIONS.find((one) => one === name);
  const curve = CURVES.find((one) => one === of);
  if (operation !== undefined && !hasAlgorithm(operation) && curve !== undefined)
    return { operation, curve: curveNumber(curve), signatureAlgorithm: 0 };
  const known = CURVE_ALGORITHMS.find((one) => `${one.curve}/${one.signatureAlgorithm}` === of);
  if (operation === undefined || !hasAlgorithm(operation) || known === undefined)
    throw new WrongValue(
      "takes dkg:CURVE, share:CURVE, import:CURVE, presign:CURVE/ALGORITHM, sign:CURVE/ALGORITHM, future_sign:CURVE/ALGORITHM or partial_sign:CURVE/ALGORITHM, such as dkg:ED25519",
    );
  return { operation, curve: known.curveNumber, signatureAlgorithm: known.signatureAlgorithmNumber };
}
