/** What a Docker Engine says of the health of its containers, as it says it. */
const WITHIN_MS = 60_000;

export class Healths {
  #waiting = new Map();
  #end;

  static async open(engine) {
    const healths = new Healths();
    const filters = { type: ['container'], event: ['health_status'] };
    healths.#end = await engine.events(filters, (event) => healths.#told(event));
    return healths;
  }

  /** Resolves with the Engine's own time of the next change to `health`, in epoch milliseconds. */
  next(name, health) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${name} was not ${health} in time`)), WITHIN_MS);
      this.#waiting.set(`${name} ${health}`, (at) => {
        clearTimeout(timer);
        done(at);
      });
    });
  }

  close() {
    this.#end();
  }

  #told({ Action, Actor, timeNano }) {
    const key = `${Actor.Attributes.name} ${Action.replace('health_status: ', '')}`;
    this.#waiting.get(key)?.(timeNano / 1e6);
    this.#waiting.delete(key);
  }
}
