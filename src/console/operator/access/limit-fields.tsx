import type { JSX } from "preact";
import { type SignatureAlgorithm, SignatureAlgorithmSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { enumOptions, SelectField, TextField } from "../../design/form/field.tsx";
import { countFault } from "../../format/input-faults.ts";
import { dwalletsFault, referencesFault, sumFault, type TypedLimits, WINDOWS } from "../../format/limits.ts";

/** The fields of a new key that make it narrow. They are folded away until someone wants them. */
export function LimitFields({ value, onChange }: LimitFieldsProps): JSX.Element {
  const set = (change: Partial<TypedLimits>): void => onChange({ ...value, ...change });
  const toggle = (algorithm: SignatureAlgorithm): void => {
    const others = value.algorithms.filter((each) => each !== algorithm);
    set({ algorithms: others.length < value.algorithms.length ? others : [...others, algorithm] });
  };
  return (
    <details>
      <summary>Limits</summary>
      <TextField
        label="Users"
        value={value.users}
        onInput={(users) => set({ users })}
        fault={referencesFault(value.users)}
        hint="The project’s references, separated by commas. Empty allows every user."
      />
      <TextField
        label="dWallets"
        value={value.dwallets}
        onInput={(dwallets) => set({ dwallets })}
        fault={dwalletsFault(value.dwallets)}
        hint="Ids, separated by commas. Empty allows every dWallet."
      />
      <fieldset class="field">
        <legend>Algorithms</legend>
        {enumOptions(SignatureAlgorithmSchema).map(([number, name]) => (
          <label key={number} class="check">
            <input
              type="checkbox"
              checked={value.algorithms.includes(Number(number) as SignatureAlgorithm)}
              onChange={() => toggle(Number(number) as SignatureAlgorithm)}
            />{" "}
            {name}
          </label>
        ))}
        <p class="hint">None checked allows every algorithm.</p>
      </fieldset>
      <TextField
        label="Budget in dollars"
        value={value.sum}
        onInput={(sum) => set({ sum })}
        fault={sumFault(value.sum)}
        hint="The most that the key spends in any window of time. Empty allows any sum."
        inputMode="decimal"
      />
      <TextField
        label="Budget in requests"
        value={value.count}
        onInput={(count) => set({ count })}
        fault={countFault(value.count, REQUESTS_MAX_COUNT)}
        hint="The most signatures and dWallets in that window. Empty allows any number."
        inputMode="numeric"
      />
      <SelectField
        label="Window"
        options={WINDOWS}
        value={value.window}
        onSelect={(window) => set({ window })}
      />
    </details>
  );
}

interface LimitFieldsProps {
  readonly value: TypedLimits;
  onChange(value: TypedLimits): void;
}

/** Returns true if the service would accept the limits as they are typed. */
export function areRight({ users, dwallets, sum, count }: TypedLimits): boolean {
  return [
    referencesFault(users),
    dwalletsFault(dwallets),
    sumFault(sum),
    countFault(count, REQUESTS_MAX_COUNT),
  ].every((fault) => fault === undefined);
}

const REQUESTS_MAX_COUNT = 100_000_000;
