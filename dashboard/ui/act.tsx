/** Actions: each says in a dialog exactly what it will do, and is done only then. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { post } from '../io/api.ts';
import { access, isLive, refresh, rows, said } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { type Consequence, consequenceOf, refusal, type Verb } from '../lib/consequences.ts';

interface Asking extends Consequence {
  readonly verb: string;
  readonly go: () => Promise<unknown>;
  readonly done?: () => void;
}

export const asking = signal<Asking | null>(null);
const trouble = signal('');

export const role = (): 'read' | 'control' => access.value?.role ?? 'read';

export function ask(what: Asking): void {
  trouble.value = '';
  asking.value = what;
}

/** On a component: start, stop, restart. */
export function act(verb: Verb, name: string): void {
  const row = rows.value.find((each) => each.name === name);
  if (row === undefined) return;
  const no = refusal(verb, row, role(), isLive.value);
  if (no !== null) {
    said.value = no;
    return;
  }
  const title = `${verb[0]!.toUpperCase()}${verb.slice(1)}`;
  ask({ ...consequenceOf(verb, row, rows.value), verb: title, go: () => post(`/v1/${verb}`, { components: [name] }) });
}

export function Actions({ name }: { name: string }) {
  const row = rows.value.find((each) => each.name === name);
  if (row === undefined) return null;
  return (
    <span class="actions">
      {(['restart', 'start', 'stop'] as const).map((verb) => {
        const no = refusal(verb, row, role(), isLive.value);
        return (
          <button
            type="button"
            key={verb}
            aria-disabled={no !== null}
            title={no ?? `${verb} ${name}`}
            onClick={() => act(verb, name)}
          >
            {verb}
          </button>
        );
      })}
    </span>
  );
}

/** Any other action, disabled with its reason where it may not be done. */
export function ActionButton({
  label,
  consequence,
  go,
  done,
}: {
  label: string;
  consequence: Consequence;
  go: () => Promise<unknown>;
  done?: () => void;
}) {
  const no = role() === 'read' ? 'This link may only read.' : isLive.value ? null : 'The daemon does not answer.';
  return (
    <button
      type="button"
      aria-disabled={no !== null}
      title={no ?? consequence.sentences.join(' ')}
      onClick={() => {
        if (no === null) ask({ ...consequence, verb: label, go, ...(done ? { done } : {}) });
        else said.value = no;
      }}
    >
      {label}
    </button>
  );
}

export function ActionDialog() {
  const ref = useRef<HTMLDialogElement>(null);
  const what = asking.value;
  useLayoutEffect(() => {
    if (what !== null && !ref.current?.open) ref.current?.showModal();
    if (what === null) ref.current?.close();
  }, [what]);
  const close = (): void => {
    asking.value = null;
  };
  const go = async (): Promise<void> => {
    try {
      await what?.go();
      said.value = `${what?.title}: asked for.`;
      what?.done?.();
      close();
      await refresh();
    } catch (error) {
      trouble.value = `${(error as Error).message} ${(error as { hint?: string }).hint ?? ''}`;
    }
  };
  return (
    <dialog ref={ref} aria-labelledby="ask-title" onClose={close}>
      {what === null ? null : (
        <>
          <h2 id="ask-title">{plainText(what.title)}</h2>
          {what.sentences.map((sentence) => (
            <p key={sentence}>{plainText(sentence)}</p>
          ))}
          {trouble.value === '' ? null : (
            <p role="alert" class="bad">
              {trouble.value}
            </p>
          )}
          <div class="buttons">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="primary" autofocus onClick={() => void go()}>
              {what.verb}
            </button>
          </div>
        </>
      )}
    </dialog>
  );
}
