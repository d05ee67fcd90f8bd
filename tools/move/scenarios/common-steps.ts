import type { Amount, Operation, Step } from "../scenario.ts";

/** The price of the network. */
export const price: Amount = { ika: { prices: 1 }, sui: { prices: 1 } };
/** The price plus some units of IKA. */
export const withIka = (plus: number): Amount => ({ ...price, ika: { prices: 1, plus } });

/** Ceilings of exactly the price, for the curve and the algorithm. */
export const ceilings = (
  curve: number,
  algorithm = 0,
  ops: readonly Operation[] = ["presign", "sign"],
): Step[] => ops.map((op) => ({ do: "ceiling", op, curve, algorithm, amount: price }));

/** A dWallet that can sign, and a presign for it. */
export const readyToSign: readonly Step[] = [
  { do: "dkg" },
  { do: "activate dwallet" },
  { do: "presigns" },
  { do: "complete presign" },
];
/** An imported key that can sign, and a presign for it. */
export const readyToSignImported: readonly Step[] = [
  { do: "import" },
  { do: "activate dwallet" },
  { do: "dwallet presigns" },
  { do: "complete presign" },
];
/** A half of a signature that the network has verified. */
export const readyHalf: readonly Step[] = [...readyToSign, { do: "future sign" }, { do: "complete half" }];
/** The same with an imported key. */
export const readyHalfImported: readonly Step[] = [
  ...readyToSignImported,
  { do: "future sign" },
  { do: "complete half" },
];
/** An older version of the package. */
export const OLD_VERSION = 0;
/** Makes another address send the next steps. */
export const toStranger: Step = { do: "act as", who: "stranger" };
