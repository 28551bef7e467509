// The types of what the vendored files define, as far as the page uses them. Only the type checker reads this file.

type Node_ = unknown;

interface Ref<T> {
    current: T;
}

declare const preact: {
    h(type: unknown, props: Record<string, unknown> | null, ...children: unknown[]): Node_;
    render(node: Node_, parent: Element): void;
    Fragment: unknown;
};

declare const preactHooks: {
    useState<T>(initial: T | (() => T)): [T, (next: T | ((old: T) => T)) => void];
    useEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
    useLayoutEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
    useRef<T>(initial: T): Ref<T>;
    useMemo<T>(make: () => T, inputs: unknown[]): T;
};

declare const htm: {
    bind(h: typeof preact.h): (strings: TemplateStringsArray, ...values: any[]) => Node_;
};
