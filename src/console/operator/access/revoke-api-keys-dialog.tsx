import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiKey } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { eachInTurn } from "../../api/each-in-turn.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { readAll } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { Time } from "../../design/value/time.tsx";
import { scopeNames } from "./api-key-dialogs.tsx";

/** Revokes the chosen keys of a project after one confirmation, which names what each of them may do. */
export function RevokeApiKeysDialog(props: RevokeApiKeysDialogProps): JSX.Element {
  const { projectId, projectName, onClose, onChanged } = props;
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  const keys = useCall(
    async (signal) => {
      const listed = await readAll(async (at, ending) => {
        const reply = await admin.listApiKeys({ projectId, ...at }, { signal: ending });
        return { items: reply.apiKeys, nextPageToken: reply.nextPageToken };
      }, signal);
      return listed.filter(({ revokeTime }) => revokeTime === undefined);
    },
    [projectId],
  );
  const [chosenIds, setChosenIds] = useState<readonly string[]>([]);
  const [done] = useState(() => new Set<string>());
  const chosen = keys.data?.filter(({ apiKeyId }) => chosenIds.includes(apiKeyId)) ?? [];
  return (
    <ActionDialog
      title={`Revoke keys of ${projectName}${onNetwork}`}
      action={chosen.length === 1 ? "Revoke one key" : `Revoke ${chosen.length} keys`}
      isDangerous
      missing={chosen.length === 0 ? "Choose a key first." : undefined}
      confirmedBy={{ name: projectName, what: "project’s name" }}
      onClose={() => {
        // Some may be revoked, if another one failed.
        if (done.size > 0) onChanged();
        onClose();
      }}
      onAct={async () => {
        await eachInTurn(chosenIds, done, (apiKeyId) => admin.revokeApiKey({ apiKeyId }));
        onChanged();
        onClose();
      }}
    >
      <Loaded call={keys}>
        {(valid) =>
          valid.length === 0 ? (
            <Empty title="The project has no key that is not revoked" />
          ) : (
            <fieldset class="field">
              <legend>Keys</legend>
              {valid.map((key) => (
                <KeyChoice
                  key={key.apiKeyId}
                  of={key}
                  isChosen={chosenIds.includes(key.apiKeyId)}
                  onChoose={(isChosen) =>
                    setChosenIds(
                      isChosen
                        ? [...chosenIds, key.apiKeyId]
                        : chosenIds.filter((each) => each !== key.apiKeyId),
                    )
                  }
                />
              ))}
            </fieldset>
          )
        }
      </Loaded>
      {chosen.length > 0 && (
        <p role="status">
          Within five seconds every call fails with {listText(chosen.map(({ name }) => `“${name}”`))}.
          Programs that use them may no longer {listText([...new Set(chosen.flatMap(scopeNames))])}. This
          cannot be undone.
        </p>
      )}
    </ActionDialog>
  );
}

interface RevokeApiKeysDialogProps {
  readonly projectId: string;
  readonly projectName: string;
  onClose(): void;
  /** Called once keys are revoked. */
  onChanged(): void;
}

function KeyChoice({ of: key, isChosen, onChoose }: KeyChoiceProps): JSX.Element {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChosen}
        onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
      />
      <span class="wrap spaces">
        {key.name} <code class="muted">{key.prefix}…</code>{" "}
        <span class="small muted">
          may {scopeNames(key).join(", ")}; last use <Time of={key.lastUseTime} otherwise="never" />
        </span>
      </span>
    </label>
  );
}

interface KeyChoiceProps {
  readonly of: ApiKey;
  readonly isChosen: boolean;
  onChoose(isChosen: boolean): void;
}

const LIST = new Intl.ListFormat("en", { type: "conjunction" });
const listText = (texts: readonly string[]): string => LIST.format(texts);
