/** Server-sent events, from whatever pieces they arrive in. */

/** Feed it text as it comes: it gives back the data of every event that is complete. */
export class EventParser {
  #rest = '';

  push(text: string): readonly string[] {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop()!;
    return blocks.flatMap((block) => {
      const data = block
        .split('\n')
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).replace(/^ /, ''));
      return data.length === 0 ? [] : [data.join('\n')];
    });
  }
}
