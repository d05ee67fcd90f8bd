/** @jsxImportSource react */
import type { SyntheticEvent } from "react";
import { useResume, useSign } from "threshold-signing-service/react";
import { Curve, Hash, SignatureAlgorithm, type TssError } from "threshold-signing-service/sdk";
import { toHex } from "../web/hex.ts";
import { Progress } from "./progress.tsx";

const EDDSA = {
  curve: Curve.ED25519,
  signatureAlgorithm: SignatureAlgorithm.EdDSA,
  hashScheme: Hash.SHA512,
};

/** The user corrects the seed, and resumes the same signature. Every other error without a token is final. */
const CORRECTABLE: ReadonlySet<string> = new Set(["VALIDATION", "SHARE_UNVERIFIED"]);

/** What the user signs with a key. It outlives the form. */
export interface Draft {
  readonly message: string;
  /** Resumes an interrupted signature over the message. */
  readonly resumeToken: string | undefined;
}

interface SignMessageProps {
  readonly dwalletId: string;
  readonly sessionDigestHex: string;
  readonly draft: Draft;
  readonly changeDraft: (change: Partial<Draft>) => void;
  readonly readSeed: () => Uint8Array;
}

/** Signs a message, or resumes an interrupted signature. Closing it aborts the action. */
export function SignMessage(props: SignMessageProps) {
  const { dwalletId, sessionDigestHex, draft, changeDraft, readSeed } = props;
  const { message, resumeToken } = draft;
  const sign = useSign();
  const resume = useResume();
  const running = sign.isPending ? sign : resume.isPending ? resume : undefined;
  const shown = resume.isIdle ? sign : resume;
  const signed = sign.data ?? (resume.data?.kind === "sign" ? resume.data : undefined);
  const keepToken = (token: string | undefined) => changeDraft({ resumeToken: token });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const args = {
      ...EDDSA,
      seed: readSeed(),
      dwalletId,
      sessionDigestHex,
      message: new TextEncoder().encode(message),
    };
    const options = {
      onResumeToken: keepToken,
      onSuccess: () => keepToken(undefined),
      onError({ reason, resumeToken: next }: TssError) {
        // The first of two clicks still runs.
        if (reason === "ALREADY_RUNNING") return;
        keepToken(next ?? (CORRECTABLE.has(reason) ? resumeToken : undefined));
      },
    };
    if (resumeToken === undefined) {
      resume.reset();
      sign.mutate(args, options);
    } else {
      sign.reset();
      resume.mutate({ token: resumeToken, ...args }, options);
    }
  };
  const forget = () => {
    keepToken(undefined);
    sign.reset();
    resume.reset();
  };
  return (
    <form onSubmit={submit}>
      <fieldset disabled={running !== undefined}>
        <legend>A message</legend>
        <label htmlFor="message">Message</label>
        <textarea
          id="message"
          rows={3}
          required
          maxLength={4000}
          value={message}
          readOnly={resumeToken !== undefined}
          onChange={(event) => changeDraft({ message: event.currentTarget.value })}
        />
      </fieldset>
      <div className="buttons">
        <button type="submit" disabled={running !== undefined}>
          {resumeToken === undefined || running ? "Sign" : "Resume"}
        </button>
        <button type="button" disabled={running === undefined} onClick={() => running?.abort()}>
          Cancel
        </button>
        {resumeToken !== undefined && !running && (
          <button type="button" onClick={forget}>
            Forget it
          </button>
        )}
      </div>
      <Progress of={shown} />
      {signed && (
        <dl>
          <dt>signature</dt>
          <dd>{toHex(signed.signature)}</dd>
        </dl>
      )}
    </form>
  );
}
