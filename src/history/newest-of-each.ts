/** A bounded list for each component; what comes again takes its place at the end. */
export class NewestOfEach<Item extends { readonly component: string }> {
  readonly #max: number;
  readonly #keyOf: (item: Item) => string;
  /** The items of each component, the one that was added last at the end. */
  readonly #byComponent = new Map<string, Map<string, Item>>();

  constructor(maxPerComponent: number, keyOf: (item: Item) => string) {
    this.#max = maxPerComponent;
    this.#keyOf = keyOf;
  }

  add(item: Item): void {
    const key = this.#keyOf(item);
    const items = this.#byComponent.get(item.component) ?? new Map<string, Item>();
    this.#byComponent.set(item.component, items);
    items.delete(key);
    items.set(key, item);
    for (const oldest of items.keys()) {
      if (items.size <= this.#max) break;
      items.delete(oldest);
    }
  }

  /** A list of its own, for the caller to sort. */
  of(component: string): Item[] {
    return [...(this.#byComponent.get(component)?.values() ?? [])];
  }
}
