/** @jsxImportSource react */
import { type RefObject, type SyntheticEvent, useRef, useState } from "react";
import { type OnboardedKey, useDWallet, useOnboard } from "threshold-signing-service/react";
import { Curve, DWalletState } from "threshold-signing-service/sdk";
import { explain } from "../web/explain-error.ts";
import { fromHex, toHex } from "../web/hex.ts";
import { Progress } from "./progress.tsx";
import { type Draft, SignMessage } from "./sign-message.tsx";

/** Makes or finds the user's key, and shows it. */
export function Wallet() {
  // The field has the seed, and no state of React.
  const seedField = useRef<HTMLInputElement>(null);
  const [origin, setOrigin] = useState<SeedOrigin>("none");
  const [refusal, setRefusal] = useState("");
  const changeOrigin = (next: SeedOrigin) => {
    setOrigin(next);
    setRefusal("");
  };
  const onboard = useOnboard();
  /** What the user signs, by the dWallet. It outlives the key's section, which is gone while a key is looked for. */
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const changeDraft = (dwalletId: string, change: Partial<Draft>) =>
    setDrafts((all) => ({ ...all, [dwalletId]: { ...(all[dwalletId] ?? NEW_DRAFT), ...change } }));
  const make = (event: SyntheticEvent) => {
    event.preventDefault();
    if (origin === "made") {
      setRefusal(
        "Download the seed first. Without it nobody can sign with the key, and no one can replace it.",
      );
      return;
    }
    onboard.mutate({
      seed: fromHex(seedField.current?.value ?? ""),
      curve: Curve.ED25519,
      name: "react example",
    });
  };
  return (
    <>
      <form onSubmit={make}>
        <fieldset disabled={onboard.isPending}>
          <legend>Your key</legend>
          <SeedField field={seedField} origin={origin} setOrigin={changeOrigin} />
          <div className="buttons">
            <button type="submit">Make or find the key</button>
          </div>
        </fieldset>
        <p role="alert">{refusal}</p>
        <Progress of={onboard} />
      </form>
      {onboard.data && <Key of={onboard.data} {...{ seedField, drafts, changeDraft }} />}
    </>
  );
}

const NEW_DRAFT: Draft = { message: "hello", resumeToken: undefined };

/** Whether the field has a seed: one that the page made and the user has not kept yet, or one that the user has. */
type SeedOrigin = "none" | "made" | "kept";

interface SeedFieldProps {
  readonly field: RefObject<HTMLInputElement | null>;
  readonly origin: SeedOrigin;
  readonly setOrigin: (origin: SeedOrigin) => void;
}

/** The seed: 64 hex digits, which the user downloads and pastes again after a reload. */
function SeedField({ field, origin, setOrigin }: SeedFieldProps) {
  const make = () => {
    if (!field.current) return;
    field.current.value = toHex(crypto.getRandomValues(new Uint8Array(32)));
    setOrigin("made");
  };
  const download = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([field.current?.value ?? ""]));
    link.download = "seed.hex";
    link.click();
    URL.revokeObjectURL(link.href);
    setOrigin("kept");
  };
  return (
    <>
      <label htmlFor="seed">Seed</label>
      <input
        id="seed"
        ref={field}
        type="password"
        required
        pattern="[0-9a-fA-F]{64}"
        title="64 hex digits"
        autoComplete="off"
        onChange={(event) => setOrigin(event.currentTarget.value === "" ? "none" : "kept")}
        aria-describedby="seed-help"
      />
      <div className="buttons">
        <button type="button" disabled={origin !== "none"} onClick={make}>
          Make a seed
        </button>
        <button type="button" disabled={origin === "none"} onClick={download}>
          Download the seed
        </button>
      </div>
      <p id="seed-help" className="help">
        64 hex digits. Anyone who has the seed can sign, and without it no one can. The page does not store
        it.
      </p>
    </>
  );
}

interface KeyProps {
  readonly of: OnboardedKey;
  readonly seedField: RefObject<HTMLInputElement | null>;
  readonly drafts: Readonly<Record<string, Draft>>;
  readonly changeDraft: (dwalletId: string, change: Partial<Draft>) => void;
}

function Key({ of: { dwallet, addresses, sessionDigestHex }, seedField, drafts, changeDraft }: KeyProps) {
  const { data, error } = useDWallet({ dwalletId: dwallet.id });
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="The key">
      <dl>
        <dt>state</dt>
        <dd>
          {data === undefined ? "unknown" : data.state === DWalletState.Active ? "active" : "not active yet"}
        </dd>
        {addresses.map(({ kind, address }) => (
          <div key={kind}>
            <dt>{kind} address</dt>
            <dd>{address}</dd>
          </div>
        ))}
      </dl>
      <p role="alert">{error && explain(error)}</p>
      <button type="button" onClick={() => setOpen(!isOpen)}>
        {isOpen ? "Close" : "Sign a message"}
      </button>
      {isOpen && (
        <SignMessage
          dwalletId={dwallet.id}
          sessionDigestHex={sessionDigestHex}
          draft={drafts[dwallet.id] ?? NEW_DRAFT}
          changeDraft={(change) => changeDraft(dwallet.id, change)}
          readSeed={() => fromHex(seedField.current?.value ?? "")}
        />
      )}
    </section>
  );
}
