// The compressed blocks of the file.

/** Blocks of each kind that stay in memory. */
const KEPT_BLOCKS = 120;

/** The JSON of one part of the file. @param {string} id @returns {Promise<any>} */
async function inflated(id) {
	const element = document.getElementById(id);
	if (!element) throw new Error(`this file is incomplete: the part \`${id}\` is missing`);
	try {
		const binary = atob(element.textContent ?? "");
		const bytes = new Uint8Array(binary.length);
		for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
		return await new Response(stream).json();
	} catch (error) {
		throw new Error(`this file is damaged: the part \`${id}\` cannot be read (${String(error)})`);
	}
}

/** The blocks of cases or of passages. Each is inflated when somebody asks for it. @template T */
class Blocks {
	/** @param {string} name */
	constructor(name) {
		this.name = name;
		/** @type {Map<number, Promise<T[]>>} */
		this.kept = new Map();
	}

	/**
	 * One block. With `once`, the block is not cached.
	 * @param {number} number
	 * @param {"keep" | "once"} use
	 * @returns {Promise<T[]>}
	 */
	block(number, use = "keep") {
		const known = this.kept.get(number);
		const block = known ?? inflated(`${this.name}-${number}`);
		if (use === "keep") {
			this.kept.delete(number);
			this.kept.set(number, block);
			const oldest = this.kept.keys().next();
			if (this.kept.size > KEPT_BLOCKS && !oldest.done) this.kept.delete(oldest.value);
		}
		return block;
	}

	/** One entry of a block. @param {number} number @returns {Promise<T>} */
	async entry(number) {
		const block = await this.block(Math.floor(number / BLOCK));
		return block[number % BLOCK];
	}
}
