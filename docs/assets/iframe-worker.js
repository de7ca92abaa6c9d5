// Browsers start no worker from a file: in a site that is read from a folder, a hidden frame searches in its place.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = (data) => setTimeout(() => this.onmessage && this.onmessage({ data }))
      this.ready = new Promise((done) => {
        const script = inside.document.createElement("script")
        script.onload = () => done(inside)
        script.onerror = () => this.onerror && this.onerror(new Event("error"))
        script.src = new URL(address, location)
        inside.document.head.append(script)
      })
    }

    postMessage(data) {
      this.ready.then((inside) => inside.onmessage({ data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
